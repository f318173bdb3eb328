// Locations in the page as the part of its address after #: "#view=source&kernel=saxpy&line=saxpy.cu:4".

export function placeOf(hash) {
  return Object.fromEntries(new URLSearchParams(hash.replace(/^#/, "")));
}

// Values that are empty are left out.
export function hashOf(place) {
  const given = Object.entries(place).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return `#${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

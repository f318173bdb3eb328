"""Texture fetches and surface accesses: images, coordinates to texels, filtering."""

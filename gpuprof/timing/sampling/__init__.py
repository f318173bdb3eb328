"""How the sampler is set: its registers, the filter of wanted samples, the events that trigger it."""

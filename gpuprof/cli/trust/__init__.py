"""Commands that say how far numbers can be trusted: samples, and the model."""

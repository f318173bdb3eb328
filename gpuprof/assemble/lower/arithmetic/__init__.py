"""Handlers of PTX instructions that compute a lane's own value."""

"""Bodies and particles with frictional contact: ``yoke.nonsmooth.World()``."""

from .build import Body, Joint, Material, ModelPort as Port, NonsmoothWorld as World, Particles

__all__ = ["Body", "Joint", "Material", "Particles", "Port", "World"]

"""Mechanisms of rigid and flexible bodies: ``yoke.multibody.Model()``."""

from .build import Beam, Body, Force, Joint, ModelPort as Port, MultibodyModel as Model, Node

__all__ = ["Beam", "Body", "Force", "Joint", "Model", "Node", "Port"]

"""The web app: pages over the services, behind the guard."""

from __future__ import annotations

from gettext import gettext
from importlib import import_module

from flask import Flask

from app import paths, text
from app.services import Services
from app.web import errors, guard
from compaction.tokens import format_count

_BLUEPRINTS = (
    "anchors",
    "appearance",
    "compactions",
    "events",
    "explorer",
    "history",
    "offloads",
    "plan",
    "problems",
    "recompact",
    "timeline",
)
"""Modules of this package; each has a blueprint `bp`."""


def create_app(services: Services, token: str) -> Flask:
    """The app over `services`; `token` is what the first URL has to carry."""
    assets = paths.assets_dir()
    app = Flask(
        __name__,
        template_folder=str(assets / "templates"),
        static_folder=str(assets / "static"),
    )
    app.extensions["services"] = services
    # No form of ours carries more than a page of settings.
    app.config["MAX_CONTENT_LENGTH"] = 1024 * 1024
    guard.install(app, token)
    errors.install(app)
    _prepare_templates(app)
    for name in _BLUEPRINTS:
        app.register_blueprint(import_module(f"app.web.{name}").bp)
    return app


def _prepare_templates(app: Flask) -> None:
    jinja = app.jinja_env
    jinja.trim_blocks = jinja.lstrip_blocks = True
    # Whatever a template prints has passed here: text from the inspected data may hold control
    # characters, or bytes that were no UTF-8 and would make the whole page fail to be sent.
    jinja.finalize = _printed
    jinja.filters.update(
        count=text.count,
        size=text.size,
        tokens=format_count,
        moment=text.moment,
        plural=text.plural,
        stamp=text.stamp,
    )
    jinja.globals.update(_=gettext, out_of_band=False)
    jinja.globals["ui"] = jinja.get_template("_macros.html").module
    jinja.globals["msg"] = jinja.get_template("messages/_macros.html").module


def _printed(value: object) -> object:
    # Markup, a subclass of str, is our own HTML and passes unchanged.
    return text.printable(value) if type(value) is str else value

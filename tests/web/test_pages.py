"""Every page, in each of the three forms in which it can be asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask.testing import FlaskClient

from app.services import build
from app.web import create_app
from tests.builders import traces
from tests.web.conftest import TOKEN, admitted
from tests.web.pages import BLOCK, BOOSTED, Page, walk


def test_every_page_stands_alone_and_follows_a_link(client: FlaskClient) -> None:
    for url, answer in walk(client):
        whole, main = answer.text, client.get(url, headers=BOOSTED).text

        assert whole.startswith("<!doctype html>"), url
        assert whole.count('id="main"') == whole.count('id="editor"') == 1, url
        assert main.lstrip().startswith("<title>"), url
        assert main.count('<main id="main"') == 1, url
        assert "<html" not in main, url


def test_a_block_is_only_the_block(client: FlaskClient) -> None:
    for url, _ in walk(client):
        block = client.get(url, headers=BLOCK).text

        assert "<main" not in block, url
        assert block.strip(), url


def test_going_back_gets_the_whole_page(client: FlaskClient) -> None:
    headers = {**BOOSTED, "HX-History-Restore-Request": "true"}

    answer = client.get("/", headers=headers)

    assert answer.text.startswith("<!doctype html>")


def test_caches_are_told_that_the_form_depends_on_the_request(client: FlaskClient) -> None:
    assert "HX-Request" in client.get("/").headers["Vary"]


def test_the_panel_is_replaced_only_when_the_session_changes(client: FlaskClient) -> None:
    history = next(url for url, _ in walk(client) if url.endswith("/history"))
    here = {**BOOSTED, "HX-Current-URL": f"http://127.0.0.1{history}"}

    assert 'id="panel"' not in client.get(history, headers=here).text
    assert 'id="panel"' in client.get("/", headers=here).text


@pytest.mark.parametrize("headers", [{}, BOOSTED, BLOCK], ids=["page", "followed link", "block"])
def test_an_error_comes_in_the_form_that_was_asked_for(
    client: FlaskClient, headers: dict[str, str]
) -> None:
    answer = client.get("/sessions/nobody/history", headers=headers)

    assert answer.status_code == 404
    assert "There is no session" in answer.text
    assert answer.text.startswith("<!doctype") == (headers == {})
    assert ('<main id="main"' in answer.text) == (headers == BOOSTED)


def test_an_error_page_wears_the_theme_that_was_chosen(client: FlaskClient) -> None:
    client.set_cookie("anchorline-theme", "hc-light", domain="127.0.0.1")

    answer = client.get("/nothing")

    assert '<html lang="en" data-theme="hc-light">' in answer.text


def test_an_unexpected_failure_shows_no_inside(project: Path) -> None:
    app = create_app(build(project), TOKEN)
    app.view_functions["problems.page"] = lambda: 1 / 0
    client = admitted(app)

    answer = client.get("/problems")

    assert answer.status_code == 500
    assert "ZeroDivision" not in answer.text
    assert "Traceback" not in answer.text


def test_a_folder_without_data_says_what_to_do(tmp_path: Path) -> None:
    client = admitted(create_app(build(tmp_path), TOKEN))

    text = Page(client.get("/").text).text

    assert "No harness9 data here" in text
    assert "Open the folder of a project" in text


def test_a_store_without_sessions_says_so(tmp_path: Path) -> None:
    (tmp_path / ".harness9").mkdir()
    client = admitted(create_app(build(tmp_path), TOKEN))

    assert "No sessions yet" in Page(client.get("/").text).text


def test_an_unreadable_database_is_a_problem_and_no_failure(tmp_path: Path) -> None:
    (tmp_path / ".harness9").mkdir()
    (tmp_path / ".harness9" / "sessions.db").write_bytes(b"not a database at all" * 100)
    client = admitted(create_app(build(tmp_path), TOKEN))

    home, problems = client.get("/"), client.get("/problems")

    assert home.status_code == problems.status_code == 200
    assert "sessions.db" in Page(problems.text).text


def test_looking_at_every_page_leaves_no_trace(client: FlaskClient, project: Path) -> None:
    before = traces(project)

    pages = dict(walk(client))

    assert len(pages) > 10
    assert traces(project) == before


def test_the_corpus_opens_page_by_page(corpus: Path) -> None:
    for folder, home in (("coding-home/project", "coding-home/home"), ("research-zh", "")):
        app = create_app(build(corpus / folder, corpus / (home or "nowhere")), TOKEN)
        client = admitted(app)

        starts = [url for url in Page(client.get("/").text).urls if url.startswith("/sessions/")]
        for url in starts:
            answer = client.get(url)

            assert answer.status_code == 200, url
            assert Page(answer.text).faults == [], url
            assert len(answer.data) < 2_000_000, url

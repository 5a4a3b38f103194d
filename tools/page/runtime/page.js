// What the page does with the checks. All that it shows is built here: its own words and style from this script, and the paper's from the
// file that was checked. Of what stood in the page only the file is taken, and, while nothing is checked, the text as it was printed.

$.page = () => {
  const at = (id) => document.getElementById(id), code = $.catalogues.labels[document.documentElement.lang] ? document.documentElement.lang : "en";
  const words = JSON.parse($.catalogues.labels[code]), said = (name) => words[`check.${name}`];
  const own = at("signed")?.textContent.trim() ? at("signed").textContent : null, printed = [...at("paper")?.childNodes ?? []];
  const digest = document.querySelector("[data-digest]")?.textContent ?? "";
  let text = own;
  const element = (name, kind, ...inner) => {
    const made = document.createElement(name);
    if (kind) made.className = kind;
    made.append(...inner);
    return made;
  };
  const coded = (line) => line.split("`").map((part, place) => place % 2 ? element("code", "", part) : part);
  const cells = (row, head) => row.map((cell, place) => {
    const made = element("td", place ? "n" : "what", cell);
    if (place) made.dataset.label = head[place];
    return made;
  });
  const drawn = (block) => {
    const get = (name) => $.gi(block, name), lines = (name, kind) => get("lines").map((line) => element(name, kind, ...coded(line)));
    switch (get("kind")) {
      case "title": return [element("h1", "", get("text"))];
      case "heading": return [element("h2", "", get("text"))];
      case "annex": return [element("h2", "annex", get("text"))];
      case "lead": return [element("p", "lead", ...lines("span", ""))];
      case "box": return [element("div", "box", ...lines("p", ""))];
      case "warning": return [element("div", "box warning", ...lines("p", ""))];
      case "list": return [element("ul", "", ...lines("li", ""))];
      case "text": return lines("p", "");
      case "facts": return [element("table", "facts", element("tbody", "", ...get("rows").map(([name, value]) => element("tr", "", element("th", "", name), element("td", "", ...coded(value))))))];
      case "table": {
        const head = element("thead", "", element("tr", "", ...get("head").map((name, place) => element("th", place ? "n" : "", name))));
        const body = element("tbody", "", ...get("rows").map((row) => element("tr", "", ...cells(row, get("head")))));
        return [element("section", "together", element("p", "heading", get("text")), element("div", "wide", element("table", "stack", head, body)))];
      }
      case "footer": return [element("footer", "", get("text"))];
    }
    throw new Error(get("kind"));
  };
  const paper = (found) => {  // the sentences of a checked file
    at("paper").replaceChildren(...$.modules["papers.paper"].paper([found, code]).flatMap(drawn));
    document.title = `${words["Erasure certificate"]} ${$.gi($.gi(found, "identity"), "certificate_id")}`;
  };
  const unchecked = () => {
    at("paper").replaceChildren(...(text === own ? printed : [element("p", "", said("hidden"))]));
    document.title = said("title");
  };
  const hidden = () => { at("paper").replaceChildren(element("p", "", said("hidden"))); document.title = said("title"); };
  const show = (state, sentence, checks = []) => {
    at("check").className = `box check ${state}`;
    at("state").textContent = sentence;
    at("checks").replaceChildren(...checks.filter(({passed}) => !passed).map(({name, detail}) => element("li", "failed", `${name}: ${detail}`)));
  };
  const label = (id, name) => { const made = element("label", "", said(name)); made.htmlFor = id; return made; };
  const input = (id, accept) => Object.assign(element("input"), {id, type: "file", accept});
  const key = Object.assign(element("textarea"), {id: "key", rows: 2, spellcheck: false, autocomplete: "off"});
  const state = Object.assign(element("p"), {id: "state"}), save = Object.assign(element("button", "", said("save")), {id: "save", type: "button", hidden: own === null});
  state.setAttribute("role", "status");
  const tools = element("div", "", element("p", "", label("key", "ask"), element("br"), key), element("p", "", label("keyfile", "ask_file"), " ", input("keyfile", ".pub,.pem")),
    element("p", "", label("other", "ask_other"), " ", input("other", ".json")), element("p", "", save));
  const box = element("section", "box check unchecked", state, Object.assign(element("ul"), {id: "checks"}), Object.assign(tools, {id: "tools"}),
    element("p", "", element("small", "", said("trust"), " ", said("script"), " ", element("code", "", digest))));
  for (const styled of document.querySelectorAll("style, link")) styled.remove();
  const style = new CSSStyleSheet();
  style.replaceSync($.style);
  document.adoptedStyleSheets = [style];
  document.body.replaceWith(element("body", "", element("main", "", Object.assign(box, {id: "check"}), Object.assign(element("article"), {id: "paper"}))));
  let asked = 0;
  const run = async () => {
    const mine = ++asked, given = at("key").value.trim(), pem = given.includes("BEGIN PUBLIC KEY");
    unchecked();
    if (text === null) return show("unchecked", said("none"));
    show("unchecked", said("busy"));
    await new Promise((then) => setTimeout(then, 30));  // the words above are seen first
    let answer;
    try {
      answer = await $.check(text, pem ? given : null);
      if (mine === asked && answer.passed) paper(answer.document);
    } catch (error) {
      if (mine === asked) { unchecked(); show("unchecked", `${said(error instanceof $.Unchecked ? "no_signature" : "broken")} (${error.message})`); }
      return;
    }
    if (mine !== asked) return;
    const {checks, document: found} = answer;
    if (!answer.passed) { hidden(); return show("wrong", said("wrong"), checks); }
    const signer = $.gi($.gi(found, "signature"), "key_id"), short = given.toLowerCase().replace(/[\s:]/g, "");
    if (given && !pem && short !== signer) { hidden(); return show("wrong", said("other_key"), [...checks, {name: said("key"), passed: false, detail: signer}]); }
    show(given ? "right" : "half", given ? said("right") : `${said("unknown_key")} ${signer}`, checks);
  };
  const fromFile = (id, then) => at(id).addEventListener("change", async (event) => {
    const [file] = event.target.files;
    if (!file) return;
    const wrong = (sentence) => { hidden(); show("wrong", sentence); };
    asked += 1;
    hidden();
    show("unchecked", said("busy"));
    if (file.size > 1 << 26) return wrong(said("too_long"));
    const raw = await file.arrayBuffer();
    try {
      then(new TextDecoder("utf-8", {fatal: true, ignoreBOM: true}).decode(raw));
    } catch {
      return wrong(said("not_text"));
    }
    run();
  });
  fromFile("keyfile", (found) => { at("key").value = found; });
  fromFile("other", (found) => { text = found; });
  at("key").addEventListener("input", run);
  at("save").addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text ?? ""], {type: "application/json"}));
    link.download = "certificate.json";
    link.click();
  });
  run();
};
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", $.page);
else $.page();

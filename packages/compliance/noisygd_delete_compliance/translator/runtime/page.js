// The page of a certificate: the check's state, the sentences of the checked file, and the controls.
//
// A named element (`<form name="body">`) shadows a property of its document. So the file and the language are read through prototypes, the
// whole document is replaced by a new tree, and that tree is reached through the references below, never by a name. Of the former document
// nothing but the text of the file is shown.

$.script = (() => {  // the text of this script, whose digest the page states
  const running = Object.getOwnPropertyDescriptor(Document.prototype, "currentScript").get.call(document);
  return running === null ? null : Object.getOwnPropertyDescriptor(Node.prototype, "textContent").get.call(running);
})();
$.page = () => {
  const find = (selector) => Document.prototype.querySelector.call(document, selector);
  const held = find("#signed"), root = find(":root");
  const given = held === null ? "" : Object.getOwnPropertyDescriptor(Node.prototype, "textContent").get.call(held);
  const asked = Element.prototype.getAttribute.call(root, "lang");
  const code = asked !== null && Object.hasOwn($.catalogues.labels, asked) ? asked : "en";
  const words = JSON.parse($.catalogues.labels[code]), said = (name) => words[`check.${name}`];
  const digest = $.script === null ? "–" : `sha256-${btoa(String.fromCharCode(...$.sha256(new TextEncoder().encode($.script))))}`;
  const own = given.trim() ? given : null;
  let text = own;
  const element = (name, kind, ...inner) => {
    const made = Document.prototype.createElement.call(document, name);
    if (kind) made.className = kind;
    made.append(...inner);
    return made;
  };
  const coded = (parts) => parts.map((part, place) => place % 2 ? element("code", "", part) : part);
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
      case "stated": return [element("ul", "stated", ...lines("li", ""))];
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
  const title = element("title"), article = element("article"), state = element("p"), failures = element("ul");
  const paper = (found) => {  // the sentences of a file
    const blocks = $.modules["reports.certificate_page"].certificate_blocks([found, code]);
    article.replaceChildren(...blocks.flatMap(drawn));
    title.textContent = `${$.gi(blocks[0], "text")} ${$.gi($.gi(found, "identity"), "certificate_id")}`;
  };
  const hide = () => { article.replaceChildren(element("p", "", said("hidden"))); title.textContent = said("title"); };
  const show = (kind, sentence, checks = []) => {
    box.className = `box check ${kind}`;
    state.textContent = sentence;
    failures.replaceChildren(...checks.filter(({passed}) => !passed).map(({name, detail}) => element("li", "failed", `${name}: ${detail}`)));
  };
  const label = (field, name) => { const made = element("label", "", said(name)); made.htmlFor = field.id; return made; };
  const input = (id, accept) => Object.assign(element("input"), {id, type: "file", accept});
  const key = Object.assign(element("textarea"), {id: "key", rows: 2, spellcheck: false, autocomplete: "off"});
  const keyfile = input("keyfile", ".pub,.pem"), other = input("other", ".json");
  const save = Object.assign(element("button", "", said("save")), {id: "save", type: "button", hidden: own === null});
  state.setAttribute("role", "status");
  const tools = element("div", "", element("p", "", label(key, "ask"), element("br"), key), element("p", "", label(keyfile, "ask_file"), " ", keyfile),
    element("p", "", label(other, "ask_other"), " ", other), element("p", "", save));
  const box = element("section", "box check unchecked", state, failures, tools,
    element("p", "", element("small", "", said("trust"), " ", said("script"), " ", element("code", "", digest))));
  for (const [id, made] of Object.entries({check: box, state, checks: failures, tools, paper: article})) made.id = id;
  const page = element("html", "", element("head", "", title), element("body", "", element("main", "", box, article)));
  page.lang = code;
  Document.prototype.replaceChildren.call(document);  // and what is beside the root: `<?xml-stylesheet?>`
  Node.prototype.appendChild.call(document, page);
  new MutationObserver((found) => found.flatMap((one) => [...one.addedNodes]).forEach((node) => node.remove())).observe(document, {childList: true});
  window.navigation?.addEventListener("navigate", (event) => { if (event.downloadRequest === null) event.preventDefault(); });  // a refresh of the former document
  const style = new CSSStyleSheet();
  style.replaceSync($.style);
  document.adoptedStyleSheets = [style];
  hide();
  if (window.top !== window) return show("unchecked", said("framed"));  // the page around it could say anything of what stands here
  let latest = 0;
  const run = async () => {
    const mine = ++latest, given = key.value.trim(), pem = given.includes("BEGIN PUBLIC KEY");
    hide();
    if (text === null) return show("unchecked", said("none"));
    show("unchecked", said("busy"));
    await new Promise((then) => setTimeout(then, 30));  // the words above are seen first
    let answer;
    try {
      answer = await $.check(text, pem ? given : null);
      if (mine === latest && answer.passed) paper(answer.document);
    } catch (error) {
      if (mine !== latest) return;
      const unsupported = error instanceof $.Unchecked;
      hide();
      try { if (unsupported) paper($.parsed(text)); } catch { hide(); }  // it can still be read
      return show("unchecked", `${said(unsupported ? "no_signature" : "broken")} (${error.message})`);
    }
    if (mine !== latest) return;
    const {checks, document: found} = answer;
    if (!answer.passed) { hide(); return show("wrong", said("wrong"), checks); }
    const signer = $.gi($.gi(found, "signature"), "key_id"), short = given.toLowerCase().replace(/[\s:]/g, "");
    if (given && !pem && short !== signer) { hide(); return show("wrong", said("other_key"), [...checks, {name: said("key"), passed: false, detail: signer}]); }
    show(given ? "right" : "half", given ? said("right") : `${said("unknown_key")} ${signer}`, checks);
  };
  const fromFile = (field, then) => field.addEventListener("change", async () => {
    const [file] = field.files;
    if (!file) return;
    const wrong = (sentence) => { hide(); show("wrong", sentence); };
    latest += 1;
    hide();
    show("unchecked", said("busy"));
    if (file.size > 1 << 26) return wrong(said("too_long"));
    const raw = await file.arrayBuffer();
    try {
      then(new TextDecoder("utf-8", {fatal: true}).decode(raw));
    } catch {
      return wrong(said("not_text"));
    }
    run();
  });
  fromFile(keyfile, (found) => { key.value = found; });
  fromFile(other, (found) => { text = found; });
  key.addEventListener("input", run);
  save.addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text ?? ""], {type: "application/json"}));
    link.download = "certificate.json";
    link.click();
  });
  run();
};
$.page();

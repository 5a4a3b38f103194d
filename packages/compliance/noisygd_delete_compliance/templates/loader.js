
(async () => {
  // Named elements of the document shadow its properties, so everything is read through prototypes and copied into a new tree first.
  const find = (selector) => Document.prototype.querySelector.call(document, selector);
  const read = (kind, name, node) => Object.getOwnPropertyDescriptor(kind.prototype, name).get.call(node);
  const content = (selector) => { const node = find(selector); return node === null ? "" : read(Node, "textContent", node); };
  const made = (name, ...inner) => { const node = Document.prototype.createElement.call(document, name); node.append(...inner); return node; };
  const packed = content("#packed"), signed = made("pre", content("#signed")), body = made("body", signed), root = find(":root");
  const page = made("html", made("head"), body);
  page.lang = Element.prototype.getAttribute.call(root, "lang") ?? "";
  signed.id = "signed";
  signed.hidden = true;
  Document.prototype.replaceChildren.call(document);  // and what is beside the root: `<?xml-stylesheet?>`
  Node.prototype.appendChild.call(document, page);
  try {
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    body.append(made("script", await new Response(stream).text()));
  } catch (error) {
    body.append(`Not checked: the script of this page cannot be unpacked (${error.message}).`);
  }
})();

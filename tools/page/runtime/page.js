// What the page does with the checks: the words stand in the page, in the reader's language; here is when each is said.

(() => {
  const at = (id) => document.getElementById(id), said = (name) => at("check").dataset[name];
  const own = at("signed").textContent.trim() ? at("signed").textContent : null;
  let text = own;
  const show = (state, words, checks = []) => {
    at("check").className = `box check ${state}`;
    at("state").textContent = words;
    at("checks").replaceChildren(...checks.map(({name, passed, detail}) => {
      const line = document.createElement("li");
      line.className = passed ? "held" : "failed";
      line.textContent = `${passed ? "✓" : "✗"} ${name}: ${detail}`;
      return line;
    }));
  };
  const shownFault = (document_) => {  // the first place where the page shows another number than the signed file holds
    if (text !== own) return null;
    for (const cell of document.querySelectorAll("[data-of]")) {
      const value = cell.dataset.of.split(".").reduce((inner, name) => $.gi(inner, Array.isArray(inner) ? BigInt(name) : name), document_);
      const written = cell.dataset.as === "of_hundred" ? $.str($.modules["privacy.shown"].right_of_hundred([value]))
        : cell.dataset.as === "figure" ? $.modules["report.page"].figure([value]).replace(".", said("decimal")) : $.str(value);
      if (cell.textContent !== written) return cell.dataset.of;
    }
    return null;
  };
  let asked = 0;
  const run = async () => {
    const mine = ++asked, given = at("key").value.trim(), pem = given.includes("BEGIN PUBLIC KEY");
    if (text === null) return show("unchecked", said("none"));
    show("unchecked", said("busy"));
    await new Promise((then) => setTimeout(then, 30));  // the words above are seen first
    let answer;
    try {
      answer = await $.check(text, pem ? given : null);
    } catch (error) {
      if (mine === asked) show("unchecked", `${said(error instanceof $.Unchecked ? "noSignature" : "broken")} (${error.message})`);
      return;
    }
    if (mine !== asked) return;
    const {checks, document: found, notRecomputed} = answer;
    if (!answer.passed) return show("wrong", said("wrong"), checks);
    const other = shownFault(found);
    if (other !== null) return show("wrong", said("otherShown"), [...checks, {name: said("shown"), passed: false, detail: other}]);
    const signer = $.gi($.gi(found, "signature"), "key_id"), short = given.toLowerCase().replace(/[\s:]/g, "");
    if (given && !pem && short !== signer) return show("wrong", said("otherKey"), [...checks, {name: said("key"), passed: false, detail: signer}]);
    if (notRecomputed.length) return show("half", [said("older"), ...notRecomputed].join(" · "), checks);
    show(given ? "right" : "half", given ? said("right") : `${said("unknownKey")} ${signer}`, checks);
  };
  const fromFile = (id, then) => at(id).addEventListener("change", async (event) => {
    const [file] = event.target.files;
    if (!file) return;
    if (file.size > 1 << 26) return show("wrong", said("tooLong"));
    then(await file.text());
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
  at("save").hidden = own === null;
  at("tools").hidden = false;
  run();
})();

// One certificate, checked by the translated verifier. Signatures are the browser's to check, and it answers later.

$.check = async (text, publicKey = null) => {
  const {verify_certificate} = $.modules["evidence.verification"], {is_envelope, open_envelope} = $.modules["evidence.envelope"];
  const {with_whole_numbers} = $.modules["evidence.checks"];
  for (;;) {
    try {
      let document = with_whole_numbers([$.parsed(text)]), checks = [];
      const named = publicKey === null ? {} : {public_key: publicKey};
      if (is_envelope([document])) {
        const [certificate, check] = open_envelope([document], named);
        document = certificate;
        checks = [check];
      }
      const answer = verify_certificate([document], named);
      checks = [...checks, ...$.ga(answer, "checks")].map((check) => ({name: check.name, passed: check.passed, detail: check.detail}));
      return {passed: checks.every((check) => check.passed), checks, document};
    } catch (error) {
      if (error instanceof $.Question) { await $.answer(error.parts); continue; }
      const known = $.thrown(error);
      if (!$.caught(known, $.b.ValueError)) throw error;
      return {passed: false, checks: [{name: "file", passed: false, detail: $.str(known)}], document: null};
    }
  }
};
$.answer = async ({name, raw, signature, data}) => {
  let key;
  try {
    key = await crypto.subtle.importKey("raw", raw, {name: "Ed25519"}, false, ["verify"]);
  } catch (error) {
    if (error.name !== "NotSupportedError" && globalThis.crypto?.subtle) { $.answers.set(name, false); return; }  // not a point of the curve
    throw new $.Unchecked("this browser cannot check Ed25519 signatures");
  }
  $.answers.set(name, await crypto.subtle.verify({name: "Ed25519"}, key, signature, data));
};
$.Unchecked = class Unchecked extends Error {};

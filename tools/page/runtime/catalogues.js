// Catalogues of sentences, read once.

$.libraries["privacy.sentences"] = {catalogue: $.cache($.fn("catalogue", ["language"], {}, (language) => {
  if (!Object.hasOwn($.catalogues.claims, language)) throw $.raised($.b.ValueError, "no such language");
  return $.parsed($.catalogues.claims[language]);
}))};
$.libraries["papers.catalogue"] = {labels: $.cache($.fn("labels", ["code"], {}, (code) => {
  if (!Object.hasOwn($.catalogues.labels, code)) throw $.raised($.b.ValueError, "no such language");
  return $.parsed($.catalogues.labels[code]);
}))};
$.libraries["methods.base"] = {assumptions_of: () => $.tuple([])};

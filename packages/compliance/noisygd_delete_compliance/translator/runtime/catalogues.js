// Catalogues of sentences, read once.

$.libraries["privacy.sentences"] = {load_catalogue: $.cache($.fn("load_catalogue", ["language"], {}, (language) => {
  if (!Object.hasOwn($.catalogues.claims, language)) throw $.raised($.b.ValueError, "no such language");
  return $.parsed($.catalogues.claims[language]);
}))};
$.libraries["reports.texts"] = {page_labels: $.cache($.fn("page_labels", ["code"], {}, (code) => {
  if (!Object.hasOwn($.catalogues.labels, code)) throw $.raised($.b.ValueError, "no such language");
  return $.parsed($.catalogues.labels[code]);
}))};
$.libraries["methods.base"] = {assumptions_of: () => $.tuple([])};

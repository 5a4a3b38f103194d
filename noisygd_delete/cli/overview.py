"""What `noisygd-delete --help` says of each command, so that no command loads for it."""

COMMON = """\
--json              print one JSON object instead of text
--explain           the whole of it: what drives noise and cost, every other way
--dry-run           check everything and say what it would do or cost; change nothing
--wait SECONDS      for another process to finish with the store
--delimiter TEXT    of a CSV file (default: found from the header)
--device DEVICE     where steps are taken: cpu, cuda, cuda:1 (default: NOISYGD_DELETE_DEVICE, or cpu)
--memory SIZE       of rows read from a source, as 800M or 6G (default: a quarter of the machine's); a
                    larger table goes through an encrypted scratch file in TMPDIR or /var/tmp
--tombstones FILE   list of erased ids outside the store: note those erased, refuse those erased before
--tombstone-key FILE  its key (both are made by `keygen KEY --tombstones LIST`)
--language CODE     of a page to read: en, de (default: en)
--received TIME     when a request came in, for the register: ISO 8601 with the zone of that place
--channel CHANNEL   how it came in: desk, form, e-mail, letter, telephone, agent, registry
--identity-checked  you made sure who asks"""
LINES = {
    "demo": "from scikit-learn's digits to a certificate: learn, measure, erase three of them",
    "quickstart": "from a CSV or Parquet file to a model in one command; with --delete to a signed certificate",
    "advise": "which method, λ and how many publications to begin with; needs sizes only",
    "plan": "steps and noise for a budget, explained; with --out a file of them for other commands",
    "init": "make a store from a CSV or Parquet file and a schema",
    "learn": "train from the initial law and publish the first model",
    "delete": "erase records, or all records of persons, and publish a model without them",
    "replace": "put corrected content in place of records (rectification), and publish a model without what they held",
    "insert": "put new records into free slots and publish a model with them",
    "publish": "one release that covers every edit made with --later",
    "relearn": "train afresh, under a new plan where options say so",
    "stream": "serve a file or pipe of requests: rows are erased at once, models are published in batches",
    "predict": "what the published model says about the rows of a file; with labels, how often it is right",
    "evaluate": "how good the published model is: on labelled rows kept out of training, or on the records under noise",
    "explain": "what an additive model says: a curve for each column, with the band of the noise, as a page, a picture or plain numbers",
    "status": "sizes, releases, pending edits, and which model is in force",
    "budget": "what each release and all of them together reveal, as Rényi, GDP and (ε, δ)",
    "verify": "check that the store is what its ledger says; or that given texts are in no byte of it",
    "audit": "attack a plan with synthetic worst-case records: claimed against measured",
    "certificate": "the erasure certificate of a request, as signed JSON and as a page to print",
    "report": "one HTML page about the whole store: requests, budget, cost, accuracy bound",
    "restrict": "take records out of the table for a time (Article 18 GDPR): kept encrypted in a file of yours, used by no release",
    "object": "the same for an objection (Article 21 GDPR), until it is decided: then lift, or destroy file and key",
    "lift": "put records back whose processing was restricted, the person having been told before (Article 18(3) GDPR)",
    "register": "the requests of a store: due and late first, decisions, who was told; forget what may be forgotten",
    "export": "fields for a registry of deployments (YAML), a model card, an annex to an impact assessment; the model as ONNX or plain numbers",
    "publish-to": "put the model in force, and every later one in its place, into a folder, an object store or a model registry",
    "keygen": "make a key that signs certificates",
    "verify-certificate": "compare what an erasure certificate claims with what can be proven, and check its signature",
    "residue": "where is this person still? Given texts looked for in databases, lakes, folders and backups",
    "watch": "count what an application changes in the source unseen (a trigger in PostgreSQL: numbers, no content, no id)",
    "serve": "a service that takes requests by HTTP, carries them out in every store, and answers with certificates",
    "requests": "requests that the service has not finished, in the first store that it was given; retry or drop what was set aside",
    "token": "make a token for somebody who asks the service, and add its hash to a file of tokens",
}

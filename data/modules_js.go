package data

// Modules is left out of the page, whose one file stays below 3.2 MB.
const Modules = ""

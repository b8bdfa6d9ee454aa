package data

// Modules is left out of the page.
const Modules = ""

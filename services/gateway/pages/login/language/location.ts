/** Schemes whose URIs a browser runs or shows as a document of the page that links to them. */
const unsafe = /^(javascript|data|vbscript|blob|file|filesystem|about|view-source|jar|livescript|mocha):/i

/**
 * Gives a URI to which a page or a header may lead: a path of Roster's own, or a whole URI. Throws for any other text;
 * a service gives none.
 */
export function checkLocation(location: string): string {
  const isOwn = /^\/(?![/\\])/.test(location)
  if (/^[\x21-\x7e]+$/.test(location) && (isOwn || /^[a-z][a-z\d+.-]*:/i.test(location)) && !unsafe.test(location))
    return location
  throw new Error('a page leads to no URI')
}

/** The same, of a form that leads to another site. */
export function checkAction(action: string): string {
  if (/^https?:/.test(action)) return checkLocation(action)
  throw new Error('a form leads to no site')
}

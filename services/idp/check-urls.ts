import type { Violation } from '#lib/errors'
import type { Context } from './context.ts'

/** Checks those of the fields that the request has. Each is the address of a provider. */
export function checkUrls<Field extends string>(...fields: Field[]) {
  return (_context: Context, request: { [Name in Field]?: string | undefined }): Violation[] =>
    fields.flatMap((field) => {
      const description = faultOf(request[field])
      return description === undefined ? [] : [{ field, description }]
    })
}

/** The fault of the address of a provider; undefined where it has none, or is not sent. */
export function faultOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  // The URL standard would repair more: blanks, line ends, backslashes and missing slashes.
  if (!/^https?:\/\/[^\s\\]+$/i.test(text) || !URL.canParse(text)) return 'must be an absolute https URL'
  const { protocol, username, password, hostname, hash } = new URL(text)
  if (protocol !== 'https:' && !thisMachine.has(hostname)) return 'must be an absolute https URL'
  // An empty name of a user leaves no trace but the "@".
  if (username !== '' || password !== '' || /^[^/]*\/\/[^/?#]*@/.test(text)) return 'must not name a user'
  return hash === '' && !text.includes('#') ? undefined : 'must not have a fragment'
}

// Somebody who develops a provider has it here, and no certificate for it.
const thisMachine = new Set(['localhost', '127.0.0.1', '[::1]'])

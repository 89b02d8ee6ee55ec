import type { ObjectBulkResult } from '#gen/console/api'
import { ApiError } from '../api/errors.ts'
import { faultsOf, type Rules } from '../form/rules.ts'
import { words } from './words.ts'

const most = 1000

export interface Refused {
  email: string
  why: string
}

/**
 * The addresses of a text, each once. Mail programs write `Ada <ada@example.com>`, too. Throws the error of the field where
 * one is no address, as the API does.
 */
export function addressesOf(text: string, rules: Rules): string[] {
  const parts = text.split(/[\n,;]/).map((part) => (/<([^<>]+)>\s*$/.exec(part)?.[1] ?? part).trim())
  const emails = [...new Set(parts.filter((part) => part !== ''))]
  const wrong = emails.find((email) => faultsOf(rules['email'], email).length > 0)
  if (emails.length === 0) throw faultOf(words.none)
  if (emails.length > most) throw faultOf(words.tooMany)
  if (wrong !== undefined) throw faultOf(words.wrong(wrong))
  return emails
}

function faultOf(description: string): ApiError {
  const violations = [{ field: 'emails', description }]
  return new ApiError({
    message: description,
    code: 'invalid_argument',
    reason: '',
    metadata: {},
    violations,
    requestId: '',
  })
}

/** Those that were refused, and why. */
export function resultsOf(emails: string[], results: ObjectBulkResult[]): Refused[] {
  return results.flatMap(({ index = 0, error }) =>
    error ? [{ email: emails[index] ?? '', why: error.message ?? '' }] : [],
  )
}

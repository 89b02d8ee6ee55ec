import type { Keyring } from '#lib/encryption/keys'
import { makeSecret, readSecret } from '../../directory/secrets/secret.ts'

/** Comes back with each form of a request's pages: no other site knows it, and no other request takes it. */
export function formToken(keys: Keyring, browserId: string, requestId: string): string {
  return makeSecret(keys, 'form', [browserId, requestId])
}

export function isFormToken(keys: Keyring, browserId: string, requestId: string, text: string): boolean {
  const [browser, request] = readSecret(keys, 'form', text) ?? []
  return browser === browserId && request === requestId
}

import { createPrivateKey } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import type { JsonObject } from '@bufbuild/protobuf'
import { inject } from 'vitest'
import { isLong } from '#test/support/long'
import type { Call } from './call.ts'
import { callConnectJson } from './connect-json.ts'
import { callConnect } from './connect.ts'
import { callGrpc } from './grpc.ts'
import { callGrpcWebText } from './grpc-web-text.ts'
import { callGrpcWeb } from './grpc-web.ts'
import { callJson } from './json.ts'

/** The encodings by their names, for `describe.each`. */
export const encodings = [
  { encoding: 'json', call: recording(callJson) },
  { encoding: 'grpc', call: recording(callGrpc) },
  { encoding: 'grpc-web', call: recording(callGrpcWeb) },
  { encoding: 'connect', call: recording(callConnect) },
] as const

/** Also the encodings that differ from those in their packing only. For tests of the encodings themselves. */
export const everyEncoding = [
  ...encodings,
  { encoding: 'grpc-web-text', call: recording(callGrpcWebText) },
  { encoding: 'connect-json', call: recording(callConnectJson) },
] as const

type Encoding = (typeof encodings)[number]

/**
 * For `describe.each`: a scenario runs in one encoding, and each encoding has its share of the scenarios. That all
 * say the same is proven once for each kind of call (encodings.test.ts) and for each reason (errors.test.ts). The long
 * form runs each scenario in every encoding.
 */
export function over(encoding: Encoding['encoding']): Encoding[] {
  return encodings.filter((each) => isLong || each.encoding === encoding)
}

/** For tests that do not depend on the encoding. */
export const call: Call = encodings[0].call

/** Records a secret, so that the last test can search for it everywhere. */
export function recordSecret(secret: unknown): void {
  if (typeof secret === 'string' && secret.length >= 6) appendFileSync(inject('roster').secretsFile, `${secret}\n`)
}

function recording(plain: Call): Call {
  return async (operation, request, options) => {
    const answer = await plain(operation, request, options)
    const ok = (answer.ok ?? {}) as JsonObject
    // A refused password may be a typing error, and so is a secret as well.
    const { password, oldPassword, currentPassword, newPassword, clientSecret, bindPassword } = request ?? {}
    const passwords = [password, oldPassword, currentPassword, newPassword, (newPassword as JsonObject)?.['password']]
    const shown = [
      ok['verificationCode'],
      ok['emailCode'],
      ok['sessionToken'],
      ok['accessToken'],
      ok['token'],
      ok['secret'],
      ...((ok['recoveryCodes'] as string[] | undefined) ?? []),
      ok['clientSecret'],
      (ok['challenges'] as JsonObject | undefined)?.['otpEmail'],
    ]
    const own = privateKeyOf(ok['keyDetails'])
    for (const secret of [...passwords, clientSecret, bindPassword, ...shown, ...own]) recordSecret(secret)
    return answer
  }
}

// Each line of the PEM separately, since storage may break the lines elsewhere, and the number that makes the key
// private.
function privateKeyOf(keyDetails: unknown): string[] {
  if (typeof keyDetails !== 'string') return []
  const { key } = JSON.parse(Buffer.from(keyDetails, 'base64').toString('utf8')) as { key: string }
  const lines = key.split('\n').filter((line) => line !== '' && !line.startsWith('-----'))
  return [...lines, createPrivateKey(key).export({ format: 'jwk' }).d!]
}

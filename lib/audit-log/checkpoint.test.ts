import { expect, test } from 'vitest'
import { compactVerify, importJWK } from 'jose'
import { type Checkpoint, isSigned, makeAuditKey, readCheckpoint, signCheckpoint } from './checkpoint.ts'

const checkpoint: Checkpoint = {
  service: 'users',
  number: 1,
  previous: '',
  at: '2026-11-22T12:00:00.000Z',
  epoch: 1,
  reason: '',
  page: 3,
  hash: 'ab',
  last: { transactionId: '7', position: '9' },
  events: 9,
}
const { key, secret } = makeAuditKey()

test('any reader of JSON Web Signatures can verify a checkpoint', async () => {
  const jws = signCheckpoint(checkpoint, key.kid, secret)
  const { payload, protectedHeader } = await compactVerify(jws, await importJWK({ ...key }, 'EdDSA'))
  expect(JSON.parse(new TextDecoder().decode(payload))).toEqual(checkpoint)
  expect(protectedHeader).toEqual({ alg: 'EdDSA', kid: key.kid, typ: 'roster-checkpoint' })
  expect(readCheckpoint(jws)).toMatchObject({ checkpoint, kid: key.kid })
  expect(isSigned(readCheckpoint(jws), [key])).toBe(true)
})

test('another text, another signature, or another key under the same id is not signed', () => {
  const [head, , signature] = signCheckpoint(checkpoint, key.kid, secret).split('.')
  const other = signCheckpoint({ ...checkpoint, hash: 'cd' }, key.kid, secret).split('.')
  expect(isSigned(readCheckpoint([head, other[1], signature].join('.')), [key])).toBe(false)
  const stranger = makeAuditKey()
  const forged = readCheckpoint(signCheckpoint(checkpoint, key.kid, stranger.secret))
  expect(isSigned(forged, [key, { ...stranger.key, kid: key.kid }])).toBe(false)
})

test.each(['', 'a.b.c', `${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.x`])(
  '%j is no checkpoint',
  (jws) => {
    expect(() => readCheckpoint(jws)).toThrow()
  },
)

test('a checkpoint in another spelling is none', () => {
  const jws = signCheckpoint(checkpoint, key.kid, secret)
  // The last letter of 64 bytes has four bits that no byte has, and 0 in them.
  const otherBits = jws.slice(0, -1) + { A: 'B', Q: 'R', g: 'h', w: 'x' }[jws.at(-1)!]!
  const [head, body, signature] = jws.split('.')
  const spellings = [
    `${jws}=`,
    `${jws}==`,
    `${jws}\n`,
    otherBits,
    `${head}=.${body}.${signature}`,
    `${head}.\n${body}.${signature}`,
  ]
  for (const spelling of spellings) expect(() => readCheckpoint(spelling), JSON.stringify(spelling)).toThrow()
})

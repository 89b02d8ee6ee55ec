import { createPrivateKey } from 'node:crypto'
import { expect, test } from 'vitest'
import { makeAuditKey } from '#lib/audit-log/checkpoint'
import { receiptType, signNow } from '../../services/users/openid/tokens/keys/sign-now.ts'
import { verifyReceipt } from './receipt.ts'

test('a receipt in another spelling is not the one that was made', async () => {
  const { key, secret } = makeAuditKey()
  const keys = JSON.stringify({ keys: [key] })
  const header = { alg: 'EdDSA', kid: key.kid, typ: receiptType }
  const text = signNow(header, { removal: { userId: 'user' } }, createPrivateKey(secret))
  expect(await verifyReceipt(`${text}\n`, keys)).toEqual({ removal: { userId: 'user' } })
  // The last letter of 64 bytes has four bits that no byte has, and 0 in them.
  const otherBits = text.slice(0, -1) + { A: 'B', Q: 'R', g: 'h', w: 'x' }[text.at(-1)!]!
  const [head, body, signature] = text.split('.')
  for (const spelling of [
    `${text}=`,
    `${text}==`,
    otherBits,
    `${head}.${body}=.${signature}`,
    `${head}.${body}.\n${signature}`,
  ])
    expect(await verifyReceipt(spelling, keys), JSON.stringify(spelling)).toBeUndefined()
})

import { expect, test } from 'vitest'
import { type AuditedRow, canonicalJson, canonicalRow } from './canonical-row.ts'
import { makePage, readEntries } from './page.ts'

const row: AuditedRow = {
  aggregate_type: 'user',
  aggregate_id: '17',
  sequence: '2',
  type: 'email.changed',
  payload: { email: 'zoë@example.com', b: [1, { d: null, c: true }] },
  organization_id: 'default',
  creator: 'admin',
  request_id: 'r"1',
  created_at: new Date('2026-11-22T12:00:00.123Z'),
  position: '9007199254740993',
  transaction_id: '771',
}

test('a row has one text, whatever the order of its members', () => {
  const text =
    '{"aggregate_id":"17","aggregate_type":"user","created_at":"2026-11-22T12:00:00.123Z","creator":"admin",' +
    '"organization_id":"default","payload":{"b":[1,{"c":true,"d":null}],"email":"zoë@example.com"},' +
    '"position":"9007199254740993","request_id":"r\\"1","sequence":"2","transaction_id":"771","type":"email.changed"}'
  expect(canonicalRow(row)).toBe(text)
  const reversed = Object.fromEntries(Object.entries(row).toReversed()) as unknown as AuditedRow
  expect(canonicalRow({ ...reversed, cause: null })).toBe(text)
})

test('a row with all columns is JSON by RFC 8785', () => {
  const text = canonicalRow({ ...row, cause: 'users-1', traceparent: '00-1' })
  expect(canonicalJson(JSON.parse(text))).toBe(text)
  expect(JSON.parse(text)).toMatchObject({ cause: 'users-1', traceparent: '00-1' })
})

test('numbers, texts and names are written as RFC 8785 says', () => {
  const value = JSON.parse('{"\\u20ac":1e21,"\\r":1.0,"1":0.002,"\\u0080":-0,"\\ud83d\\ude00":"\\u001f\\u2028"}')
  expect(canonicalJson(value)).toBe('{"\\r":1,"1":0.002,"\u0080":0,"€":1e+21,"😀":"\\u001f\u2028"}')
})

// A verifier of another hand has these numbers to compare with.
test('the hashes of a page never change', () => {
  const end = { epoch: 1, page: 0, events: 0, hash: '', transactionId: '0', position: '0' }
  const { hash, headerText, entries } = makePage('users', end, [row], 'salt')
  expect(headerText).toMatchInlineSnapshot(
    `"{"entries":"ce7fb9912ee66b693cf009f8da220c054537c3514c5117a24ad62692c3fc5235","epoch":1,"events":1,"first":{"position":"9007199254740993","transactionId":"771"},"last":{"position":"9007199254740993","transactionId":"771"},"page":1,"previous":"","service":"users"}"`,
  )
  expect(hash).toMatchInlineSnapshot(`"5b4c33fb997d134b294622e75158eedf206bdb5e38397bd1c947fa25409d4806"`)
  expect([...readEntries(entries)]).toMatchInlineSnapshot(`
    [
      [
        "9007199254740993",
        "5c0efe206879a95c920c44104903835a80a8d85d1e6e3f63fed0e64f868826b1",
      ],
    ]
  `)
})

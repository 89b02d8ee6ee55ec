import { expect, test } from 'vitest'
import { type AccessRow, writeAccess } from './access-rows.ts'

test('an end is written after what it ends, whatever ended before that in the batch', () => {
  const rows: AccessRow[] = [
    { ended: { authorization_id: 'former' } },
    { over: { session_id: 'other' } },
    { token: { hash: 'of it' } },
    { authorization: { authorization_id: 'it' } },
    { code: { id: 'next' } },
    { ended: { authorization_id: 'it' } },
  ]
  expect(writeAccess({}).calls(rows)).toEqual([
    { name: 'keep_codes', rows: [{ id: 'next' }] },
    { name: 'keep_tokens', rows: [{ hash: 'of it' }] },
    { name: 'keep_authorizations', rows: [{ authorization_id: 'it' }] },
    { name: 'drop_authorizations', rows: [{ session_id: 'other' }] },
    { name: 'forget_authorizations', rows: [{ authorization_id: 'former' }, { authorization_id: 'it' }] },
  ])
})

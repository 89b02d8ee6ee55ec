import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuditedHouse, startAuditedHouse } from '#test/support/audited-house'

let house: AuditedHouse

beforeAll(async () => {
  house = await startAuditedHouse()
}, 120_000)
afterAll(() => house?.stop())

const megabytes = 128

test('status counts keys of users that would fill the memory as lost', async () => {
  const { admin, rosterWithin } = house
  await admin`create table kept.subject_keys as table subject_keys`
  await admin`
    update subject_keys set wrapped = decode(repeat('00', 270000000), 'hex')
    where subject_id in (select subject_id from subject_keys limit 1)
  `
  try {
    const { count } = await admin`select from subject_keys`
    const [{ keys }] = (await rosterWithin(megabytes, 'status', '--json')).json()
    expect(keys).toMatchObject({ opened: true, looked: count, lost: 1 })
  } finally {
    await admin`update subject_keys s set wrapped = k.wrapped from kept.subject_keys k where k.subject_id = s.subject_id`
  }
})

test('status reads no more kinds of deliveries, and no more of a kind, than a notifier has', async () => {
  const { admin, rosterWithin } = house
  await admin`alter table roster_notifier.deliveries rename to hidden`
  await admin`create table roster_notifier.deliveries (kind text, state text, queued_at timestamptz)`
  await admin`grant select on roster_notifier.deliveries to roster_operator_notifier`
  try {
    await admin`
      insert into roster_notifier.deliveries (kind, state, queued_at)
      select n || repeat('x', 2000000), 'queued', now() from generate_series(1, 200) n
    `
    const [{ deliveries }] = (await rosterWithin(megabytes, 'status', '--json')).json()
    expect(Object.keys(deliveries).map((kind) => kind.length)).toEqual(Array(100).fill(100))
  } finally {
    await admin`drop table roster_notifier.deliveries`
    await admin`alter table roster_notifier.hidden rename to deliveries`
  }
})

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Checkpoint, makeAuditKey, readCheckpoint, signCheckpoint } from '#lib/eventstore/audit/checkpoint'
import { type AuditedHouse, startAuditedHouse } from '#test/support/audited-house'

let house: AuditedHouse

beforeAll(async () => {
  house = await startAuditedHouse()
}, 120_000)
afterAll(() => house?.stop())

const keep = (...lines: object[]) => house.keep('more.jsonl', ...lines)
async function some(number: number) {
  const lines = (await readFile(house.kept, 'utf8')).split('\n').flatMap((line) => (line ? [JSON.parse(line)] : []))
  const users = lines.filter(({ service }) => service === 'users')
  return users.filter((line) => line.kind === 'key' || line.number <= number)
}

test('checkpoints that are kept count for the service that was asked', async () => {
  const [key, one] = await some(1)
  const own = makeAuditKey()
  const { checkpoint } = readCheckpoint(one.jws)
  const forged = signCheckpoint({ ...checkpoint, hash: 'x' }, own.key.kid, own.secret)
  const file = await keep(key, one, { kind: 'key', service: 'grants', key: own.key }, { kind: 'checkpoint', service: 'grants', number: 1, jws: forged }) // prettier-ignore
  expect(await house.found('users', '--checkpoints', file)).toEqual([])
  const grants = await house.roster('verify', '--audit', 'grants', '--checkpoints', file)
  expect(grants.status).toBe(1)
  expect(grants.out).toContain('grants: kept checkpoint number=1: it names another service')
  // The key of one service signs nothing of another one.
  await keep({ kind: 'key', service: 'grants', key: key.key }, one)
  expect((await house.found('users', '--keys', file))[0]!.problem).toBe('its key is none of the given ones')
})

test('checkpoints go on from those that were kept, or nothing is written', async () => {
  const { admin, changed, roster } = house
  const all = await some(1000)
  const file = await keep(...(await some(2)))
  const ran = await roster('checkpoints', 'users', '--after', file)
  expect(ran.status).toBe(0)
  expect(ran.json().filter(({ kind }) => kind === 'checkpoint')).toEqual(all.filter(({ number }) => number > 2))
  const refused = async (problem: string, ...more: string[]) => {
    const { status, out, err } = await roster('checkpoints', 'users', '--after', file, ...more)
    expect({ status, out }).toEqual({ status: 1, out: '' })
    expect(err).toContain(problem)
  }
  await changed(
    () => admin`delete from audit_checkpoints where number = 3`,
    () => refused('3 is missing before it'),
  )
  await changed(
    () => admin`delete from audit_checkpoints where number >= 2`,
    () => refused('it is not the one that was kept'),
  )
  const { key, secret } = makeAuditKey()
  const third = all.find(({ number }) => number === 3)
  const forge = (other: Partial<Checkpoint>) => async () => {
    const jws = signCheckpoint({ ...readCheckpoint(third.jws).checkpoint, ...other }, key.kid, secret)
    await admin`delete from audit_checkpoints where number > 3`
    await admin`update audit_checkpoints set jws = ${jws} where number = 3`
    await admin`insert into audit_keys (kid, public_key) values (${key.kid}, ${admin.json({ ...key })})`
  }
  await changed(forge({}), () => refused('no checkpoint before it names its key'))
  await changed(forge({ previous: 'x' }), () => refused('it does not name the one before it'))
  await changed(forge({ service: 'grants' }), async () => {
    await refused('it stands in the place of another one')
    expect(await roster('checkpoints', 'users')).toMatchObject({ status: 1, out: '' })
  })
  await changed(forge({ epoch: 2, reason: 'x' }), () => refused('call it with --accept-epoch 2'))
})

test('a new epoch is written only where somebody accepts it', async () => {
  const { admin, changed, roster } = house
  const { key, secret } = makeAuditKey()
  const [, first] = await some(1)
  const one = readCheckpoint(signCheckpoint(readCheckpoint(first.jws).checkpoint, key.kid, secret))
  const { number, page } = one.checkpoint
  const anew: Checkpoint = { ...one.checkpoint, number: number + 1, previous: one.hash, page: page + 1, epoch: 2, reason: 'sealed' } // prettier-ignore
  const jws = signCheckpoint(anew, key.kid, secret)
  const file = await keep({ kind: 'key', service: 'users', key }, { ...first, jws: one.jws })
  await changed(
    async () => {
      await admin`delete from audit_checkpoints where number > 2`
      await admin`update audit_checkpoints set jws = ${one.jws} where number = 1`
      await admin`update audit_checkpoints set jws = ${jws} where number = 2`
      await admin`insert into audit_keys (kid, public_key) values (${key.kid}, ${admin.json({ ...key })})`
    },
    async () => {
      const write = (...more: string[]) => roster('checkpoints', 'users', '--after', file, ...more)
      for (const more of [[], ['--accept-epoch', '1']])
        expect(await write(...more)).toMatchObject({
          status: 1,
          out: '',
          err: expect.stringContaining(
            'number=2: the chain began anew: if you know why, call it with --accept-epoch 2',
          ),
        })
      const { status, json } = await write('--accept-epoch', '2')
      expect(status).toBe(0)
      expect(json().slice(-1)).toEqual([{ kind: 'checkpoint', service: 'users', number: 2, jws }])
      expect(await write('--accept-epoch', 'two')).toMatchObject({ status: 2, out: '' })
    },
  )
})

test.each([
  ['is kept', 2],
  ['comes next', 1],
])('a checkpoint of the year 2999 that %s is told, and those after it are written', async (_, number) => {
  const { admin, changed, roster } = house
  const all = (await some(1000)).filter(({ kind }) => kind === 'checkpoint')
  const { key, secret } = makeAuditKey()
  const signed: { kind: string; service: string; number: number; jws: string }[] = []
  let previous = ''
  for (const line of all) {
    const { checkpoint } = readCheckpoint(line.jws)
    const at = line.number === 2 ? '2999-01-01T00:00:00.000Z' : checkpoint.at
    const { jws, hash } = readCheckpoint(signCheckpoint({ ...checkpoint, at, previous }, key.kid, secret))
    signed.push({ ...line, jws })
    previous = hash
  }
  const file = await keep({ kind: 'key', service: 'users', key }, ...signed.slice(0, number))
  await changed(
    async () => {
      await admin`update audit_keys set kid = ${key.kid}, public_key = ${admin.json({ ...key })}`
      for (const one of signed) await admin`update audit_checkpoints set jws = ${one.jws} where number = ${one.number}`
    },
    async () => {
      const { status, err, json } = await roster('checkpoints', 'users', '--after', file)
      expect(status).toBe(1)
      expect(err).toContain('users: audit_checkpoints number=3: its time is before that of one before it\n')
      expect(err.includes('users: audit_checkpoints number=2: its time is to come, or none\n')).toBe(number < 2)
      expect(err).not.toContain('Nothing was written')
      expect(json().filter(({ kind }) => kind === 'checkpoint')).toEqual(signed.slice(number))
    },
  )
})

test("a key that signed nothing is not written beside kept checkpoints: it may be anybody's", async () => {
  const { admin, changed, roster } = house
  const file = await keep(...(await some(2)))
  const { key } = makeAuditKey()
  const [known] = await some(0)
  await changed(
    () => admin`insert into audit_keys (kid, public_key) values (${key.kid}, ${admin.json({ ...key })})`,
    async () => {
      const { status, json } = await roster('checkpoints', 'users', '--after', file)
      expect(status).toBe(0)
      expect(json().filter(({ kind }) => kind === 'key')).toEqual([known])
    },
  )
})

test('checkpoints that were kept are looked at by themselves, too', async () => {
  const [key, one] = await some(1)
  const own = makeAuditKey()
  const forged = signCheckpoint({ ...readCheckpoint(one.jws).checkpoint, hash: 'x' }, own.key.kid, own.secret)
  const found = async (...lines: object[]) => house.found('users', '--checkpoints', await keep(...lines))
  const row = 'kept checkpoint number=1'
  expect(await found(key, one, { ...one, jws: forged })).toEqual([{ row, problem: 'two of this number were kept, and they differ' }]) // prettier-ignore
  expect(await found(key, { ...one, jws: forged })).toEqual([
    { row: 'audit_checkpoints number=1', problem: 'it is not the one that was kept' },
    { row, problem: 'its signature is not that of a known key' },
  ])
  expect(await found(key, { ...one, number: 2 })).toContainEqual({ row: 'kept checkpoint number=2', problem: 'it has another number' }) // prettier-ignore
})

test('after a change of keys, the new one is written beside the kept one, which names it', async () => {
  const { admin, changed, roster } = house
  const [, first] = await some(1)
  const [one, two, stranger] = [makeAuditKey(), makeAuditKey(), makeAuditKey()]
  const { checkpoint } = readCheckpoint(first.jws)
  const naming = signCheckpoint({ ...checkpoint, nextKey: two.key.kid }, one.key.kid, one.secret)
  const next = readCheckpoint((await some(2)).at(-1).jws).checkpoint
  const followed = signCheckpoint({ ...next, previous: readCheckpoint(naming).hash }, two.key.kid, two.secret)
  const file = await keep({ kind: 'key', service: 'users', key: one.key }, { ...first, jws: naming })
  await changed(
    async () => {
      await admin`delete from audit_keys`
      for (const { key } of [one, two, stranger])
        await admin`insert into audit_keys (kid, public_key) values (${key.kid}, ${admin.json({ ...key })})`
      await admin`delete from audit_checkpoints where number > 2`
      await admin`update audit_checkpoints set jws = ${naming} where number = 1`
      await admin`update audit_checkpoints set jws = ${followed} where number = 2`
    },
    async () => {
      const { status, json } = await roster('checkpoints', 'users', '--after', file)
      expect(status).toBe(0)
      const kids: string[] = json().flatMap(({ kind, key }) => (kind === 'key' ? [key.kid] : []))
      expect(kids.toSorted()).toEqual([one.key.kid, two.key.kid].toSorted())
    },
  )
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Copied } from '#gen/roster/grants/v1/internal_service'
import { createStore } from '#lib/eventstore/store'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { createHold } from '#test/support/hold'
import { model } from '../../model.ts'
import { callIn, openUsers, type TestUsers } from '../../testing/test-users.ts'
import { closureKey, openness } from './closures.ts'
import { loadApplication } from './find-application.ts'
import { noteCopies } from './note-copies.ts'

let database: TestDatabase
let users: TestUsers
beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users)
})
afterAll(async () => {
  await users.stop()
  await database.drop()
})

const copied = (type: 'application' | 'project', id: string, sequence: number, state: object, closedSequence = 0) => ({
  type,
  id,
  organizationId: 'acme',
  sequence,
  closedSequence,
  state: Buffer.from(JSON.stringify(state)),
  secretHash: Buffer.alloc(0),
  secrets: [],
})
const application = (id: string, sequence: number, more: object = {}, closedSequence = 0) =>
  copied('application', id, sequence, { projectId: 'p', clientId: id, name: `${sequence}`, ...more }, closedSequence)
const note = (...all: Copied[]) => noteCopies(users, all, callIn('acme'))
const load = async (applicationId: string) => (await loadApplication(users, { applicationId }))?.application

test('an answer that comes again or late changes nothing, whatever it says', async () => {
  await note(copied('project', 'p', 1, { name: 'P' }), application('late', 4, {}, 3))
  for (const late of [application('late', 2, { inactive: true }, 2), application('late', 4, { name: 'again' }, 3)]) {
    await note(late)
    expect(await load('late')).toMatchObject({ name: '4', isOpen: true, revision: 3 })
  }
  await note(application('late', 5, { inactive: true }, 5))
  expect(await load('late')).toMatchObject({ name: '5', isOpen: false, revision: 5 })
  await note(application('late', 7, { removed: true }, 7))
  await note(application('late', 6, {}, 6))
  expect(await load('late')).toBeUndefined()
})

test('a new application may be noted by several at the same moment', async () => {
  await note(copied('project', 'p', 1, { name: 'P' }))
  for (let n = 0; n < 100; n++) {
    await Promise.all([1, 2, 3, 4, 5, 6].map((sequence) => note(application(`raced-${n}`, sequence))))
    expect(await load(`raced-${n}`)).toMatchObject({ name: '6' })
  }
})

test('a deactivation that was taken back before anybody looked still begins another revision', async () => {
  await note(copied('project', 'p', 1, { name: 'P' }), application('blink', 1))
  expect(await load('blink')).toMatchObject({ isOpen: true, revision: 0 })
  await note(application('blink', 3, {}, 3))
  expect(await load('blink')).toMatchObject({ isOpen: true, revision: 3 })
})

test('what was decided on an open application, and would be stored after its removal, is refused', async () => {
  await note(copied('project', 'p', 1, { name: 'P' }), application('held', 1))
  const slow = createHold()
  const store = createStore(slow.wrap(users.sql), model, users.log, () => {}, undefined, users)
  const { arrived, release } = slow.hold()
  const late = store.execute({
    aggregate: { type: 'authentication', id: 'held' },
    reads: { closure: closureKey('application', 'held') },
    call: callIn('acme'),
    decide(_, _now, { closure }) {
      if (!openness(closure.state).isOpen) throw new Error('it is shut')
      const payload = { method: 'none', reason: 'method' }
      return { organizationId: 'acme', events: [{ type: 'failed', payload }], answer: undefined }
    },
  })
  await arrived
  await note(application('held', 2, { removed: true }, 2))
  release()
  await expect(late).rejects.toThrow('it is shut')
})

test('settings that this release does not know are kept as they came', async () => {
  await note(copied('project', 'p', 1, { name: 'P' }), application('newer', 1, { later: { a: [1] } }))
  expect((await users.sql`select state -> 'later' as later from copies where id = 'newer'`)[0]).toEqual({
    later: { a: [1] },
  })
})

test('a project without checks has those of one that was made without saying', async () => {
  await note(copied('project', 'p', 1, { name: 'P' }), application('checked', 1))
  const project = async () => (await loadApplication(users, { clientId: 'checked' }))?.project
  expect(await project()).toMatchObject({ roleCheck: false, hasProjectCheck: true, roleAssertion: false })
  const checks = { roleCheck: true, hasProjectCheck: false, roleAssertion: true }
  await note(copied('project', 'p', 2, { name: 'P', checks }))
  expect(await project()).toMatchObject(checks)
})

import * as fc from 'fast-check'
import { Secret, TOTP } from 'otpauth'
import { expect } from 'vitest'
import type { Operation } from '../../examples/contract.ts'
import { unique } from '../../examples/people.ts'
import { command, type SignInCommand } from './command.ts'
import type { Place } from './place.ts'
import { allow, change } from './provider.ts'
import { type Application, isAlive, lifetimes, type Name, type User } from './rules.ts'

const user = fc.constantFrom<Name>('ada', 'bob')
const application = fc.constantFrom<Application>('own', 'asking')

const undone: Record<string, Operation> = { LockUser: 'UnlockUser', DeactivateUser: 'ReactivateUser' }
const isRemoved = ({ lockedBy }: User) => lockedBy === 'DeleteUser'

const lock = command(
  'lock or unlock',
  fc.record({
    user,
    by: fc.constantFrom<Operation>('LockUser', 'LockUser', 'DeactivateUser', 'DeactivateUser', 'DeleteUser'),
  }),
  {
    check: ({ users }, { user }) => !isRemoved(users[user]),
    async run({ users, browsers, provider }, { act, people }, { user, by }) {
      const known = users[user]
      await act(known.locked ? undone[known.lockedBy]! : by, { userId: people[user].userId })
      if (!known.locked) Object.assign(known, { lockedBy: by, signOuts: known.signOuts + 1 })
      known.locked = !known.locked
      // With people their requests go, and their links.
      if (user === 'ada' && isRemoved(known)) provider.isLinked = false
      if (isRemoved(known))
        for (const browser of browsers)
          browser.pages = browser.pages.filter(({ request }) => request.session?.user !== user)
    },
  },
)

/** Bob's organization alone: the other one owns the applications. */
const closeOrganization = command('close or open an organization', fc.constant({}), {
  // Otherwise users cannot be asked what it knows.
  check: ({ applications }) => applications.own.isOpen,
  async run({ users: { bob } }, { act, applications, abroad, witnesses }) {
    await act(bob.organizationIsOpen ? 'DeactivateOrganization' : 'ReactivateOrganization', {}, abroad)
    bob.organizationIsOpen = !bob.organizationIsOpen
    if (!bob.organizationIsOpen) bob.organizationClosings++
    const request = { userId: witnesses.abroad, clientId: applications.own.clientId }
    const isClosed = async () =>
      (await act('ExplainSignIn', request)).refusal?.reason === 'SIGN_IN_REASON_ORGANIZATION_CLOSED'
    await expect.poll(isClosed, { timeout: 3000 }).toBe(!bob.organizationIsOpen)
  },
})

const grant = command('grant or take the grant', fc.constant({}), {
  // Grants of a closed project do not change, nor do those of who is removed.
  check: ({ users, applications }) => !isRemoved(users.bob) && !applications.asking.closedBy.endsWith('Project'),
  async run({ users: { bob } }, { act, people, projectId, home }) {
    const { userId } = people.bob
    const { userGrants = [] } = await act('SearchUserGrants', { userId }, home)
    if (bob.granted) await act('RemoveUserGrant', { userId, grantId: userGrants[0].id }, home)
    else await act('AddUserGrant', { userId, projectId, roleKeys: [] }, home)
    bob.granted = !bob.granted
  },
})

const withdraw = command('withdraw', fc.record({ user, application }), {
  check: (model, { user, application }) =>
    !isRemoved(model.users[user]) && model.consents[`${user} ${application}`].given,
  async run(model, { act, people, applications }, { user, application }) {
    const { appId: applicationId } = applications[application]
    await act('WithdrawConsent', { userId: people[user].userId, applicationId })
    const consent = model.consents[`${user} ${application}`]
    Object.assign(consent, { given: false, scopes: [], withdrawals: consent.withdrawals + 1 })
  },
})

const close = command(
  'close or open',
  fc.record({
    application,
    what: fc.constantFrom('Application', 'Application', 'Project'),
    removes: fc.constantFrom(false, false, false, true),
  }),
  {
    check: ({ applications }, { application }) => !applications[application].closedBy.startsWith('Remove'),
    async run(model, place, { application, what, removes }) {
      const known = model.applications[application]
      const { projectId, appId } = place.applications[application]
      const by = known.isOpen ? `${removes ? 'Remove' : 'Deactivate'}${what}` : known.closedBy.replace('De', 'Re')
      await place.act(by as Operation, by.endsWith('Project') ? { projectId } : { projectId, appId }, place.home)
      if (known.isOpen) Object.assign(known, { closedBy: by, closings: known.closings + 1 })
      known.isOpen = !known.isOpen
      await untilKnown(place, application, known.isOpen)
    },
  },
)

/** Users follows grants within a second. */
async function untilKnown({ act, witnesses, applications }: Place, application: Application, isOpen: boolean) {
  const request = { userId: witnesses.home, clientId: applications[application].clientId }
  const isClosed = async () =>
    (await act('ExplainSignIn', request)).refusal?.reason === 'SIGN_IN_REASON_APPLICATION_CLOSED'
  await expect.poll(isClosed, { timeout: 3000 }).toBe(!isOpen)
}

const newPassword = command('new password', fc.record({ user }), {
  check: ({ users }, { user }) => !isRemoved(users[user]),
  async run(model, { act, people }, { user }) {
    const password = unique('Password')
    await act('SetPassword', { userId: people[user].userId, newPassword: { password } })
    people[user].password = password
    model.users[user].signOuts++
  },
})

/** One session ends, or all of the user with what applications have. */
const signOut = command('sign out', fc.record({ user, everywhere: fc.boolean() }), {
  check: ({ users }, { user }) => !isRemoved(users[user]),
  async run(model, { act, people }, { user, everywhere }) {
    const { userId } = people[user]
    const living = model.browsers.flatMap(({ sessions }) =>
      sessions.filter((session) => session.user === user && isAlive(model, session)),
    )
    if (everywhere) {
      await act('DeleteUserSessions', { userId })
      model.users[user].signOuts++
      return
    }
    const { sessions = [] } = await act('SearchUserSessions', { userId })
    expect(sessions).toHaveLength(living.length)
    // The newest is the one that began last, of all browsers.
    const newest = living.toSorted((one, other) => other.began - one.began)[0]
    if (!newest) return
    await act('DeleteSession', { sessionId: sessions[0].id })
    newest.ended = true
  },
})

/** With it go the recovery codes. Whoever has it is asked for it, at what came before as well. */
export const changeApp = command('add or remove an app', fc.record({ user }), {
  // The last one does not go while it is demanded.
  check: ({ users }, { user }) =>
    !isRemoved(users[user]) && !users[user].locked && !(users[user].needsApp && users[user].hasApp),
  async run({ users, time }, { act, people, before }, { user }) {
    const known = users[user]
    const { userId } = people[user]
    if (known.hasApp) await act('RemoveTOTP', { userId })
    else {
      const { secret } = await act('RegisterTOTP', { userId })
      const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({
        timestamp: Date.now() + (before + time) * 1000,
      })
      await act('VerifyTOTPRegistration', { userId, code })
      people[user].codes = (await act('GenerateRecoveryCodes', { userId })).recoveryCodes
    }
    known.hasApp = !known.hasApp
  },
})

/** Of Bob's organization. It counts at the next use of what there is. */
export const changePolicy = command('demand an app, or no longer', fc.constant({}), {
  async run({ users: { bob } }, { act, abroad }) {
    const settings = bob.needsApp ? {} : { forceMfa: true, secondFactors: { types: ['SECOND_FACTOR_TYPE_OTP'] } }
    await act('UpdateLoginPolicy', { settings }, abroad)
    bob.needsApp = !bob.needsApp
  },
})

export const listProvider = command('list the provider, or no longer', fc.constant({}), {
  check: ({ provider }) => provider.isThere,
  run: (model, place) => change.list(model, place),
})

export const switchProvider = command('switch the provider off or on', fc.constant({}), {
  check: ({ provider }) => provider.isThere,
  run: (model, place) => change.switch(model, place),
})

const allowAtProvider = command(
  'let newcomers of the provider in, or connect',
  fc.record({ registers: fc.boolean(), connects: fc.constantFrom(true, true, false) }),
  {
    check: ({ provider }) => provider.isThere,
    run: (model, place, allowed) => allow(model, place, allowed),
  },
)

export const unlink = command('disconnect the provider', fc.constant({}), {
  check: ({ users, provider }) => provider.isLinked && !isRemoved(users.ada),
  run: (model, place) => change.unlink(model, place),
})

const wait = command('wait', fc.record({ seconds: fc.constantFrom(61, 61, 3660, 31 * 86_400) }), {
  async run(model, place, { seconds }) {
    if (!place.wait) return
    model.time += seconds
    await place.wait(model.time)
    // A day after its end a request is forgotten, sooner or later.
    if (seconds > lifetimes.session) for (const browser of model.browsers) browser.pages = []
  },
})

export const changes: fc.Arbitrary<SignInCommand>[] = [
  lock,
  grant,
  withdraw,
  close,
  closeOrganization,
  newPassword,
  signOut,
  changeApp,
  changeApp,
  changePolicy,
  listProvider,
  switchProvider,
  allowAtProvider,
  unlink,
  wait,
]

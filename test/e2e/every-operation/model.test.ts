import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { admin, getUser, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
import { newIdp, newProject } from '../../examples/projects.ts'
import { addressOf, optionsOf, type Place, requestOf } from '../../model/requests.ts'
import { apply, type Model, type ModelUser, type Outcome, shownState } from '../../model/rules.ts'
import { type Step, steps } from '../../model/steps.ts'
import { isSecondTier } from '../../support/long.ts'
import { factsOf } from '../clients/call.ts'
import { call as json, encodings } from '../clients/encodings.ts'
import { hasMailbox, mailTo } from '../mailbox.ts'

async function begin(): Promise<{ model: Model; real: Place }> {
  const name = unique('model')
  const [organization, abroad] = await Promise.all([newOrganization(), newOrganization()])
  const me = await newMember(organization, [])
  const idps = [await newIdp(`${name} first`), await newIdp(`${name} second`)]
  const projects = { own: await newProject(organization), foreign: await newProject(abroad) }
  const human = { email: me.email, verified: true, dead: [], wrongTries: 0, resends: 0, mails: {}, notices: {} }
  const model: Model = {
    users: [{ id: me.userId, name: me.userName, sequence: 1, human: { ...human, profile: { firstName: 'Ada' } } }],
    idps: ['first', 'second'].map((own) => ({ name: own, autoRegister: false, sequence: 1 })),
    projects: { own: { sequence: 1, roles: [] }, foreign: { sequence: 1, roles: [] } },
    userGrants: [],
  }
  const ids = idps.map(({ idpId }) => idpId)
  return { model, real: { name, organization, abroad, projects, idps: ids, token: me.token } }
}

class Command implements fc.AsyncCommand<Model, Place> {
  readonly step: Step

  constructor(step: Step) {
    this.step = step
  }

  check = () => true
  toString = () => JSON.stringify(this.step)

  async run(model: Model, place: Place): Promise<void> {
    const { step } = this
    if (step.kind === 'VerifyEmail')
      for (let tries = 0; tries < step.wrongBefore; tries++)
        await new Command({ ...step, code: 'wrong', wrongBefore: 0, keyed: false }).run(model, place)
    const request = requestOf(step, model, place)
    const options = optionsOf(step, model, place)
    // Validation comes before all checks of state, and so before If-Match.
    const isInvalid = 'verification' in step && step.verification === 'badTemplate'
    const outcome: Outcome = isInvalid ? { reason: 'VALIDATION_FAILED' } : apply(model, spelt(step, model, place))
    const answer = await json(step.kind, request, options)
    expect(factsOf(answer).reason).toBe(outcome.reason)
    if (!outcome.reason) expect(Number(ok(answer).details.sequence)).toBe(outcome.sequence)
    outcome.learn?.(answer.ok)
    if (step.kind === 'AddUserGrant' && !outcome.reason) await expectGrant(ok(answer).userGrantId, request, place)
    if (outcome.code) await learnCode(outcome.code, ok(answer))
    if (step.keyed) {
      for (const { call } of encodings) {
        const again = await call(step.kind, request, options)
        expect(factsOf(again).reason).toBe(outcome.reason)
        expect(again.ok).toEqual(answer.ok)
        if (!outcome.reason) expect(again.headers['idempotent-replayed']).toBe('true')
      }
    }
    await compare(model, place)
  }
}

// Each user has its own addresses, so a mail to one concerns only that user.
function spelt(step: Step, model: Model, place: Place): Step {
  if (step.kind === 'AddHumanUser') return { ...step, email: addressOf(place, model.users.length, step.email) }
  return step.kind === 'SetEmail' ? { ...step, email: addressOf(place, step.user, step.email) } : step
}

async function learnCode({ of, mailed }: { of: ModelUser; mailed: boolean }, answer: any) {
  const human = of.human!
  if (!mailed) return void (human.code = answer.verificationCode ?? answer.emailCode)
  const count = (human.mails[human.email] = (human.mails[human.email] ?? 0) + 1)
  human.code = hasMailbox() ? (await mailTo(human.email, count)).code : 'unread'
}

async function expectGrant(grantId: string, { userId, projectId, roleKeys }: any, { organization }: Place) {
  const { userGrant } = ok(await json('GetUserGrant', { userId, grantId }, admin(organization)))
  expect([userGrant.projectId, userGrant.roleKeys ?? []]).toEqual([projectId, roleKeys])
}

async function compare({ users: all, idps }: Model, place: Place) {
  const users = all.filter(({ removed }) => !removed)
  for (const { id: userId } of all.filter(({ removed }) => removed))
    expect(factsOf(await json('GetUser', { userId }, admin())).reason).toBe('USER_NOT_FOUND')
  const shown = await Promise.all(users.map(({ id }) => getUser(id)))
  expect(
    shown.map(({ userName, state, details, human }) => [
      userName,
      state,
      Number(details.sequence),
      human && [human.email.email, human.email.isVerified ?? false, human.profile.firstName, human.profile.nickName],
    ]),
  ).toEqual(
    users.map((user) => [
      user.name,
      shownState(user),
      user.sequence,
      user.human && [user.human.email, user.human.verified, user.human.profile.firstName, user.human.profile.nickName],
    ]),
  )
  const providers = await Promise.all(place.idps.map((idpId) => json('GetIDP', { idpId }, admin())))
  expect(
    providers.map((answer) => {
      const { idp } = ok(answer)
      return [idp.name, idp.autoRegister ?? false, Number(idp.details.sequence)]
    }),
  ).toEqual(idps.map(({ name, autoRegister, sequence }) => [`${place.name} ${name}`, autoRegister, sequence]))
}

test('the API behaves like a model of its rules, in any order of commands', { timeout: 180_000 }, async () => {
  const commands = fc.commands(
    steps.map((step) => step.map((chosen) => new Command(chosen))),
    { maxCommands: 40, size: 'max' },
  )
  await fc.assert(
    fc.asyncProperty(commands, async (chosen) => {
      const began = await begin()
      await fc.asyncModelRun(() => began, chosen)
    }),
    {
      seed: Number(process.env['ROSTER_MODEL_SEED'] ?? 3),
      numRuns: isSecondTier ? 60 : 4,
      interruptAfterTimeLimit: 25_000,
    },
  )
})

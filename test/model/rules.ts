import type { Step, Verification } from './steps.ts'

/** The known facts about a user. */
export interface ModelUser {
  id: string
  /** In the form in which names are compared. */
  name: string
  sequence: number
  human?: ModelHuman
  inactive?: boolean
  locked?: boolean
  removed?: boolean
}

export interface ModelHuman {
  email: string
  verified: boolean
  /** The valid code. */
  code?: string | undefined
  /** Codes that were replaced or used. */
  dead: string[]
  wrongTries: number
  /** Codes that were mailed again on request. */
  resends: number
  /** Number of mails with a code to each address. */
  mails: Record<string, number>
  /** Number of notices of a change to each former address. */
  notices: Record<string, number>
  profile: { firstName: string; nickName?: string }
}

/** The known facts about an object with nothing but names. */
interface ModelObject {
  sequence: number
}

/** The rules of Roster in memory, for one caller with every permission, in one organization. */
export interface Model {
  /** The first user is the human who changes their own profile. */
  users: ModelUser[]
  idps: (ModelObject & { name: string; autoRegister: boolean })[]
  /** An own project, and one of another organization that it may grant. */
  projects: Record<'own' | 'foreign', ModelObject & { roles: string[] }>
  projectGrant?: { roles: string[] }
  userGrants: string[]
}

/** The expected outcome of a step: a refusal, or an answer with this sequence. */
export interface Outcome {
  reason?: string
  sequence?: number
  /** A code that is mailed to this address, or returned. The test learns it afterwards. */
  code?: { of: ModelUser; mailed: boolean }
  /** Takes over data that only the answer has. */
  learn?(answer: any): void
}

const maxWrongTries = 5
const mostMailsToAnAddress = 5
const refused = (reason: string): Outcome => ({ reason })

/** Returns the outcome of a step. Changes the model where the step is stored. */
export function apply(model: Model, step: Step): Outcome {
  switch (step.kind) {
    case 'AddHumanUser':
    case 'AddMachineUser':
      return addUser(model, step)
    case 'SetEmail':
      return bound(step, humanOf(model.users[step.user]), (user) => setEmail(user, step))
    case 'VerifyEmail':
      return verifyEmail(model.users[step.user], step.code)
    case 'ResendEmailCode':
      return bound(step, humanOf(model.users[step.user]), (user) => resend(user, step.verification))
    case 'UpdateMyProfile':
      return bound(step, model.users[0], (me) => {
        const { kind: _, bound: __, keyed: ___, ...profile } = step
        if (me.human!.profile.firstName === profile.firstName && me.human!.profile.nickName === profile.nickName)
          return { sequence: me.sequence }
        me.human!.profile = profile
        return { sequence: ++me.sequence }
      })
    case 'UpdateIDP':
      return bound(step, model.idps[step.idp], (idp) => {
        if (model.idps.some((other) => other !== idp && same(other.name, step.name))) return refused('IDP_NAME_TAKEN')
        const changes = idp.name !== step.name || idp.autoRegister !== step.autoRegister
        Object.assign(idp, { name: step.name, autoRegister: step.autoRegister })
        return { sequence: changes ? ++idp.sequence : idp.sequence }
      })
    case 'AddProjectRole':
      return bound(step, model.projects[step.project], (project) => {
        if (project.roles.includes(step.role)) return refused('ROLE_EXISTS')
        project.roles.push(step.role)
        return { sequence: ++project.sequence }
      })
    case 'AddProjectGrant':
      if (step.roles.some((role) => !model.projects.foreign.roles.includes(role))) return refused('ROLE_NOT_FOUND')
      if (model.projectGrant) return refused('PROJECT_GRANT_EXISTS')
      model.projectGrant = { roles: step.roles }
      return { sequence: 1 }
    case 'DeactivateUser':
    case 'ReactivateUser':
    case 'LockUser':
    case 'UnlockUser':
    case 'DeleteUser':
      return bound(step, present(model.users[step.user]), (user) => changeState(user, step.kind))
    case 'AddUserGrant':
      return addUserGrant(model, step)
  }
}

const present = (user: ModelUser | undefined) => (user?.removed ? undefined : user)
const humanOf = (user: ModelUser | undefined) => (user?.human ? user : undefined)

// A missing object matches nothing. For an existing one, If-Match is checked before all other rules about its state.
function bound<T extends ModelObject>(
  step: { bound: 'no' | 'current' | 'stale' | 'any' },
  object: T | undefined,
  work: (object: T) => Outcome,
): Outcome {
  if (!object) return refused('USER_NOT_FOUND')
  return step.bound === 'stale' ? refused('SEQUENCE_MISMATCH') : work(object)
}

function same(left: string, right: string): boolean {
  return left.normalize('NFKC').toLowerCase() === right.normalize('NFKC').toLowerCase()
}

function addUser({ users }: Model, step: Step & { kind: 'AddHumanUser' | 'AddMachineUser' }): Outcome {
  if (step.kind === 'AddHumanUser' && step.verification === 'badTemplate') return refused('VALIDATION_FAILED')
  if (users.some(({ name }) => same(name, step.name))) return refused('USER_NAME_TAKEN')
  const user: ModelUser = { id: '', name: step.name, sequence: 1 }
  users.push(user)
  const learn = ({ userId }: any) => (user.id = userId)
  if (step.kind === 'AddMachineUser') return { sequence: 1, learn }
  const verified = step.verification === 'verified'
  const profile = { firstName: 'Ada' }
  user.human = { email: step.email, verified, dead: [], wrongTries: 0, resends: 0, mails: {}, notices: {}, profile }
  return { ...newCode(user, step.verification), learn }
}

function setEmail(user: ModelUser, { email, verification }: Step & { kind: 'SetEmail' }): Outcome {
  const human = user.human!
  if (verification === 'verified') {
    if (email !== human.email || !human.verified) {
      kill(human)
      user.sequence++
    }
    noticeFormerAddress(user, email)
    Object.assign(human, { email, verified: true })
    return { sequence: user.sequence }
  }
  if (email === human.email && human.verified && verification !== 'unverified') return refused('EMAIL_NOT_CHANGED')
  if (isThrottled(human, email, verification)) return refused('MAILS_THROTTLED')
  if (email !== human.email || human.verified) user.sequence++
  noticeFormerAddress(user, email)
  Object.assign(human, { email, verified: false })
  return newCode(user, verification)
}

// A notice adds one more event. Where there were too many, the change comes without it.
function noticeFormerAddress(user: ModelUser, email: string) {
  const { email: former, verified, notices } = user.human!
  const earlier = notices[former] ?? 0
  if (!verified || email === former || earlier >= mostMailsToAnAddress) return
  notices[former] = earlier + 1
  user.sequence++
}

function resend(user: ModelUser, verification: 'send' | 'return'): Outcome {
  const human = user.human!
  if (human.verified) return refused('EMAIL_ALREADY_VERIFIED')
  if (verification === 'send' && human.resends++ > 0) {
    human.resends--
    return refused('CODE_THROTTLED')
  }
  if (isThrottled(human, human.email, verification)) {
    human.resends--
    return refused('MAILS_THROTTLED')
  }
  return newCode(user, verification)
}

// No test takes ten minutes, so mails never leave the limit's window.
function isThrottled({ mails }: ModelHuman, email: string, verification: Verification): boolean {
  return verification !== 'return' && (mails[email] ?? 0) >= mostMailsToAnAddress
}

// A mailed code adds one more event, once the mail is sent.
function newCode(user: ModelUser, verification: Verification): Outcome {
  if (verification === 'verified') return { sequence: user.sequence }
  kill(user.human!)
  return { sequence: ++user.sequence, code: { of: user, mailed: verification !== 'return' } }
}

function kill(human: ModelHuman) {
  if (human.code !== undefined) human.dead.push(human.code)
  human.code = undefined
  human.wrongTries = 0
}

function verifyEmail(user: ModelUser | undefined, typed: 'right' | 'wrong' | 'old'): Outcome {
  const human = user?.human
  if (!human || human.code === undefined || human.wrongTries >= maxWrongTries) return refused('CODE_INVALID')
  user.sequence++
  if (typed !== 'right') {
    human.wrongTries++
    return refused('CODE_INVALID')
  }
  kill(human)
  human.verified = true
  return { sequence: user.sequence }
}

const flags = {
  DeactivateUser: ['inactive', true, 'USER_ALREADY_INACTIVE'],
  ReactivateUser: ['inactive', false, 'USER_NOT_INACTIVE'],
  LockUser: ['locked', true, 'USER_ALREADY_LOCKED'],
  UnlockUser: ['locked', false, 'USER_NOT_LOCKED'],
} as const

// No further step can find a removed user, not even by name.
function changeState(user: ModelUser, kind: keyof typeof flags | 'DeleteUser'): Outcome {
  if (kind === 'DeleteUser') {
    Object.assign(user, { removed: true, name: '', human: undefined })
    return { sequence: ++user.sequence }
  }
  const [flag, value, reason] = flags[kind]
  if ((user[flag] ?? false) === value) return refused(reason)
  user[flag] = value
  return { sequence: ++user.sequence }
}

/** The state as GetUser shows it. */
export function shownState({ inactive, locked }: ModelUser): string {
  return `USER_STATE_${inactive ? 'INACTIVE' : locked ? 'LOCKED' : 'ACTIVE'}`
}

function addUserGrant(model: Model, step: Step & { kind: 'AddUserGrant' }): Outcome {
  const user = model.users[step.user]
  if (!user || user.removed) return refused('USER_NOT_FOUND')
  const known = step.project === 'own' ? model.projects.own.roles : model.projectGrant?.roles
  if (!known) return refused('PROJECT_NOT_FOUND')
  if (step.roles.some((role) => !known.includes(role))) return refused('ROLE_NOT_FOUND')
  const grant = `${step.user} ${step.project}`
  if (model.userGrants.includes(grant)) return refused('USER_GRANT_EXISTS')
  model.userGrants.push(grant)
  return { sequence: 1 }
}

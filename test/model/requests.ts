import { randomUUID } from 'node:crypto'
import type { JsonObject } from '@bufbuild/protobuf'
import { allowedLinkHost } from '../e2e/running.ts'
import type { CallOptions } from '../e2e/clients/call.ts'
import { admin, profile } from '../examples/people.ts'
import type { Model } from './rules.ts'
import type { Step, Verification } from './steps.ts'

/** The place of one run of the model. Each run has its own, so that names of other runs are not in its way. */
export interface Place {
  /** A part of every address, and of every name that belongs to the instance. */
  name: string
  organization: string
  abroad: string
  projects: Record<'own' | 'foreign', string>
  idps: string[]
  /** The token of the model's first user. */
  token: string
}

const choices: Record<Verification, JsonObject> = {
  none: {},
  send: { sendCode: {} },
  template: { sendCode: { urlTemplate: `https://${allowedLinkHost}/{{.UserID}}/{{.Code}}` } },
  badTemplate: { sendCode: { urlTemplate: `https://${allowedLinkHost}/{{.Password}}` } },
  return: { returnCode: {} },
  verified: { isVerified: true },
  unverified: { isVerified: false },
}

/** The address in a place that a step stands for. */
export function addressOf({ name }: Place, user: number, email: string): string {
  return `${name}-${user}-${email}@example.com`
}

/** The message of a step. Make it before the model applies the step. */
export function requestOf(step: Step, model: Model, place: Place): JsonObject {
  const idOf = (user: number) => model.users[user]?.id ?? 'no-one'
  switch (step.kind) {
    case 'AddHumanUser': {
      const email = { email: addressOf(place, model.users.length, step.email), ...choices[step.verification] }
      return { userName: step.name, profile, email }
    }
    case 'AddMachineUser':
      return { userName: step.name, name: 'A machine' }
    case 'SetEmail':
      return {
        userId: idOf(step.user),
        email: addressOf(place, step.user, step.email),
        ...choices[step.verification],
      }
    case 'VerifyEmail': {
      const human = model.users[step.user]?.human
      const code = step.code === 'right' ? human?.code : step.code === 'old' ? human?.dead.at(-1) : undefined
      return { userId: idOf(step.user), verificationCode: code ?? 'WRONG2' }
    }
    case 'ResendEmailCode':
      return { userId: idOf(step.user), ...choices[step.verification] }
    case 'UpdateMyProfile':
      return { ...profile, firstName: step.firstName, ...(step.nickName && { nickName: step.nickName }) }
    case 'UpdateIDP':
      return { idpId: place.idps[step.idp]!, name: `${place.name} ${step.name}`, autoRegister: step.autoRegister }
    case 'AddProjectRole':
      return { projectId: place.projects[step.project], roleKey: step.role, displayName: step.role }
    case 'AddProjectGrant':
      return { projectId: place.projects.foreign, grantedOrgId: place.organization, roleKeys: step.roles }
    case 'DeactivateUser':
    case 'ReactivateUser':
    case 'LockUser':
    case 'UnlockUser':
    case 'DeleteUser':
      return { userId: idOf(step.user) }
    case 'AddUserGrant':
      return { userId: idOf(step.user), projectId: place.projects[step.project], roleKeys: step.roles }
  }
}

/** The caller of a step and its conditions. */
export function optionsOf(step: Step, model: Model, place: Place): CallOptions {
  const isAbroad = step.kind === 'AddProjectGrant' || (step.kind === 'AddProjectRole' && step.project === 'foreign')
  const caller =
    step.kind === 'UpdateMyProfile' ? { token: place.token } : admin(isAbroad ? place.abroad : place.organization)
  const sequence = objectOf(step, model)?.sequence ?? 7
  const match = { no: undefined, any: '*', current: `"${sequence}"`, stale: `"${sequence + 1000}"` }[step.bound]
  const headers = { ...(step.keyed && { 'idempotency-key': randomUUID() }), ...(match && { 'if-match': match }) }
  return { ...caller, headers }
}

function objectOf(step: Step, model: Model): { sequence: number } | undefined {
  if (step.kind === 'UpdateMyProfile') return model.users[0]
  if (step.kind === 'UpdateIDP') return model.idps[step.idp]
  if (step.kind === 'AddProjectRole') return model.projects[step.project]
  return 'user' in step ? model.users[step.user] : undefined
}

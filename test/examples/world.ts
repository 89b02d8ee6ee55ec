import type { JsonObject } from '@bufbuild/protobuf'
import type { Operation } from './contract.ts'
import { newApplication, newSigningApi } from './applications.ts'
import { newHuman, newMachine, newMember, newOrganization, unique } from './people.ts'
import { grantProject, newIdp, newProject } from './projects.ts'

/** The objects that the cases of the error table need. */
export type World = Awaited<ReturnType<typeof buildWorld>>

/** Two organizations, one of which granted a project to the other; people of each kind; two providers. */
export async function buildWorld() {
  const [home, abroad] = [await newOrganization(), await newOrganization()]
  const machine = unique('machine')
  const machineId = await newMachine(home, machine)
  const project = await newProject(home, ['reader', 'writer'])
  const foreignProject = await newProject(abroad, ['reader', 'writer'])
  return {
    home,
    abroad,
    machine,
    machineId,
    human: await newHuman(home),
    unverified: await newHuman(home, { verification: { returnCode: {} } }),
    handed: await newHuman(home, { password: unique('Handed'), passwordChangeRequired: true }),
    stranger: await newHuman(abroad),
    manager: await newMember(home, ['ORG_USER_MANAGER']),
    owner: await newMember(home, ['ORG_OWNER']),
    roleless: await newMember(home, []),
    project,
    foreignProject,
    application: await newApplication(home, project),
    api: await newSigningApi(home, project),
    grant: await grantProject(abroad, foreignProject, home, ['reader']),
    idp: await newIdp(),
    otherIdp: await newIdp(),
  }
}

/**
 * A request that fails, and its error. That an operation refuses whom it must is not here: the walk of
 * e2e/authorization calls each one as every kind of caller.
 */
export interface ErrorCase {
  operation: Operation
  /** The circumstances of the failure. */
  when: string
  reason: string
  code: number
  http: number
  /** Faulty fields, in JSON spelling. */
  fields?: string[]
  metadata?: Record<string, string>
  /** The caller; null for no token. Default: the machine administrator in the organization `home`. */
  as?: (world: World) => { token: string } | null
  organization?: (world: World) => string
  request: (world: World) => JsonObject
}

type Facts = Pick<ErrorCase, 'reason' | 'code' | 'http'>
type Request = (world: World) => JsonObject

/** A case of the table. */
export function fails(
  operation: Operation,
  facts: Facts,
  when: string,
  request: Request,
  more: Partial<ErrorCase> = {},
): ErrorCase {
  return { operation, ...facts, when, request, ...more }
}

export const denied: Facts = { reason: 'PERMISSION_DENIED', code: 7, http: 403 }
export const invalid: Facts = { reason: 'VALIDATION_FAILED', code: 3, http: 400 }

/** UNAUTHENTICATED for this reason. */
export function unauthenticated(reason: string): Facts {
  return { reason, code: 16, http: 401 }
}

/** NOT_FOUND for this reason. */
export function notFound(reason: string): Facts {
  return { reason, code: 5, http: 404 }
}

/** ALREADY_EXISTS for this reason. */
export function exists(reason: string): Facts {
  return { reason, code: 6, http: 409 }
}

/** FAILED_PRECONDITION for this reason. */
export function precondition(reason: string): Facts {
  return { reason, code: 9, http: 400 }
}

/** Callers of the table. */
export const anonymous = { as: () => null }
export const powerless = { as: ({ roleless: human }: World) => human }
export const manager = { as: ({ manager: human }: World) => human }
export const owner = { as: ({ owner: human }: World) => human }

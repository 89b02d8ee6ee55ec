import type { JsonObject } from '@bufbuild/protobuf'
import { expect } from 'vitest'
import { fiveOperations } from '../examples/five-operations.ts'
import type { Road } from './roads.ts'

/** What a client of another make is to do: it gets this as JSON on its standard input. */
export interface Work {
  url: string
  /** The file of the certificate to trust; empty where the road is plain. */
  certificate: string
  /** Each call, by the name of its operation. `SearchUsers` searches the new machine by its name. */
  calls: Record<WorkName, WorkCall>
}

export interface WorkCall {
  /** The bearer token. */
  token: string
  /** x-service-orgid. */
  organization: string
  /** The request in canonical JSON, with the fields of the path. */
  request: JsonObject
}

type WorkName = 'UpdateMyProfile' | 'UpdateIDP' | 'AddMachineUser' | 'SetEmail' | 'AddUserGrant' | 'SearchUsers'

/** What the client prints as JSON: each answer in canonical JSON, and what it read of the error. */
export interface WorkDone {
  answers: Record<WorkName, any>
  /** Of a last call, SetEmail with an empty address. */
  error: { code: number; message: string; reason: string; field: string }
}

/** Work for a client: the five operations, a search, and a call that fails. */
export async function newWork({
  url,
  certificate,
}: Road): Promise<{ work: Work; check(done: WorkDone): Promise<void> }> {
  const errands = await fiveOperations()
  const calls = Object.fromEntries(
    errands.map(({ operation, token, organization, request }) => [operation, { token, organization, request }]),
  ) as Work['calls']
  const { userName } = calls.AddMachineUser.request
  calls.SearchUsers = {
    ...calls.AddMachineUser,
    request: {
      queries: [{ userNameQuery: { userName: userName!, method: 'TEXT_QUERY_METHOD_EQUALS' } }],
      withTotal: true,
    },
  }
  return {
    work: { url, certificate, calls },
    async check({ answers, error }) {
      for (const { operation, check } of errands) await check(answers[operation as WorkName])
      expect(answers.SearchUsers).toMatchObject({ users: [{ userName }], total: 1 })
      expect(error).toEqual({
        code: 3,
        message: expect.stringMatching(/./),
        reason: 'VALIDATION_FAILED',
        field: 'email',
      })
    },
  }
}

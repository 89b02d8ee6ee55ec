import type { JsonObject } from '@bufbuild/protobuf'
import type { Operation } from '../examples/contract.ts'
import { callJson } from '../e2e/clients/json.ts'
import type { Called } from './running.ts'
import type { Belongings } from './writes.ts'

/** Makes the objects of a writer. */
export async function settle({ url, adminToken: token }: Called, writer: number): Promise<Belongings> {
  const ask = async (operation: Operation, request: JsonObject) => {
    const answer = await callJson(operation, request, { url, token })
    if (answer.error) throw new Error(`${operation}: ${JSON.stringify(answer.error)}`)
    return answer.ok
  }
  const { id: projectId } = await ask('AddProject', { name: `Project ${writer}` })
  await ask('AddProjectRole', { projectId, roleKey: 'reader', displayName: 'Reader' })
  const { idpId } = await ask('AddOIDCIDP', {
    name: `Provider ${writer}`,
    clientId: 'client',
    clientSecret: 'client-secret',
    issuer: 'https://issuer.example.com',
    scopes: ['openid'],
  })
  return { idpId, projectId, humans: [], ungranted: [] }
}

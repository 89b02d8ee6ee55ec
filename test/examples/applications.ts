import type { JsonObject } from '@bufbuild/protobuf'
import { call } from '../e2e/clients/encodings.ts'
import { admin, ok, unique } from './people.ts'

export interface ExampleApplication {
  projectId: string
  appId: string
  clientId: string
  /** Empty where it uses none. */
  clientSecret: string
}

/** Adds a web application with these settings. */
export async function newApplication(organization: string, projectId: string, more: JsonObject = {}) {
  const request = { projectId, name: unique('Application'), ...more }
  return exampleOf(projectId, ok(await call('AddOIDCApplication', request, admin(organization))))
}

/** Adds an API that signs with keys. */
export function newSigningApi(organization: string, projectId: string): Promise<ExampleApplication> {
  return newApi(organization, projectId, 'PRIVATE_KEY_JWT')
}

/** Adds an API with a method of authentication. */
export async function newApi(organization: string, projectId: string, method: 'BASIC' | 'PRIVATE_KEY_JWT') {
  const request = { projectId, name: unique('API'), authMethodType: `API_AUTH_METHOD_TYPE_${method}` }
  return exampleOf(projectId, ok(await call('AddAPIApplication', request, admin(organization))))
}

function exampleOf(projectId: string, { appId, clientId, clientSecret = '' }: any): ExampleApplication {
  return { projectId, appId, clientId, clientSecret }
}

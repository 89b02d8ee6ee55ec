import type { AddOIDCApplicationResponse } from '#gen/roster/grants/v1/application_service'
import { newToken } from '#lib/credentials/token-text'
import { limitReached } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision, Guard } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { v7 as uuid } from 'uuid'
import { refuseTakenId } from '../chosen-id.ts'
import type { Context } from '../context.ts'
import { refuseInactive } from '../organizations/active-organization.ts'
import { ownProject } from '../projects/own-project.ts'
import { type Application, type ApplicationConfig, type ApplicationEvent, proofOf } from '../vocabulary/application.ts'
import { keyOfOrganization } from '../vocabulary/organization.ts'
import { keyOfProject } from '../vocabulary/project.ts'
import { clientIdTaken, refuseIdOfUser } from './client-id.ts'
import { storeClientSecret } from './client-secrets.ts'
import { readsOfNamed, refuseUnknownOrganization } from './named-organization.ts'
import { clientKey } from './own-application.ts'

/**
 * Adds an application, with a secret if it uses one. Its client id is its own id, unless one is chosen. NOT_FOUND
 * PROJECT_NOT_FOUND; FAILED_PRECONDITION ORGANIZATION_INACTIVE; ALREADY_EXISTS APPLICATION_ID_TAKEN,
 * CLIENT_ID_TAKEN; RESOURCE_EXHAUSTED
 * LIMIT_REACHED.
 */
export async function addApplication(
  context: Context,
  request: { projectId: string; name: string; appId?: string | undefined; clientId?: string | undefined },
  config: ApplicationConfig,
  call: Call,
): Promise<AddOIDCApplicationResponse> {
  const id = request.appId ?? uuid()
  // A chosen id becomes a client id, too.
  const chosen = request.clientId ?? request.appId
  if (chosen !== undefined) await refuseIdOfUser(context, chosen, call)
  const { projectId, name, clientId = id } = request
  const secret = proofOf(config) === 'secret' ? { id: uuid(), text: newToken() } : undefined
  return context.store.execute({
    aggregate: { type: 'application', id },
    creates: true,
    reads: {
      project: keyOfProject(projectId),
      organization: keyOfOrganization(call.organizationId),
      ...readsOfNamed(config.oidc?.organizationId),
    },
    call,
    decide(application: Aggregate<Application>, _now, { project, organization, named }): Decision<ApplicationEvent> {
      refuseInactive(organization)
      ownProject(project, call.organizationId)
      refuseUnknownOrganization(named)
      refuseTakenId(application)
      const payload = { projectId, name, clientId, ...(secret && { secretId: secret.id }), ...config }
      return {
        organizationId: call.organizationId,
        claims: [{ ...clientKey(clientId), taken: clientIdTaken() }],
        guards: [guardOf(projectId)],
        events: [{ type: 'added', payload }],
        writes: secret ? [storeClientSecret(secret.text, secret.id, id)] : [],
        answer: undefined,
      }
    },
    respond: ({ after }) => ({ appId: id, details: details(after), clientId, clientSecret: secret?.text ?? '' }),
  })
}

const mostApplications = 100

function guardOf(projectId: string): Guard {
  const full = `A project has at most ${mostApplications} applications.`
  return {
    key: JSON.stringify(['applications', projectId]),
    counted: { by: 'count_applications', of: { projectId } },
    most: mostApplications,
    full: limitReached('project.applications', mostApplications, full),
  }
}

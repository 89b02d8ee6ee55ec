import { instance } from '#lib/instance'
import type { Aggregate } from '#lib/eventstore/aggregate'
import { holds } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import { permissionDenied } from '#lib/rpc/authorize'
import { type Webhook, webhookNotFound } from './vocabulary.ts'

type Right = 'iam.webhook.read' | 'iam.webhook.write'

/** Whether the caller may see things of this owner: the acting organization or, with the right there, the instance. */
export function isVisible({ caller, organizationId }: Call, right: Right, owner: string): boolean {
  return owner === instance.id ? holds(caller, right) : owner === organizationId
}

/**
 * Returns the webhook's state. NOT_FOUND WEBHOOK_NOT_FOUND if there is no such webhook, or the caller may not see it.
 */
export function visibleWebhook(webhook: Aggregate<Webhook> | undefined, call: Call, right: Right): Webhook {
  if (!webhook?.state || webhook.state.removed || !isVisible(call, right, webhook.organizationId))
    throw webhookNotFound()
  return webhook.state
}

/** Refuses a request for the instance's things if the caller lacks the right there. PERMISSION_DENIED. */
export function permitInstance(right: Right) {
  return ({ allOrganizations }: { allOrganizations: boolean }, { caller }: Call) => {
    if (allOrganizations && !holds(caller, right)) throw permissionDenied()
  }
}

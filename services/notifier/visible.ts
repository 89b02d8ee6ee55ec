import { instance } from '#lib/instance'
import type { Aggregate } from '#lib/eventstore/aggregate'
import { holds } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import { permissionDenied } from '#lib/rpc/authorize'
import { type Webhook, webhookNotFound } from './vocabulary.ts'

type Right = 'iam.webhook.read' | 'iam.webhook.write'

/** Whether the caller may see what is of this owner: the acting organization, or the instance for who has the right there. */
export function isVisible({ caller, organizationId }: Call, right: Right, owner: string): boolean {
  return owner === instance.id ? holds(caller, right) : owner === organizationId
}

/** The webhook's state. NOT_FOUND WEBHOOK_NOT_FOUND where there is none, or none that the caller may see. */
export function visibleWebhook(webhook: Aggregate<Webhook> | undefined, call: Call, right: Right): Webhook {
  if (!webhook?.state || webhook.state.removed || !isVisible(call, right, webhook.organizationId))
    throw webhookNotFound()
  return webhook.state
}

/** Refuses who asks for what is the instance's without the right there. PERMISSION_DENIED. */
export function permitInstance(right: Right) {
  return ({ allOrganizations }: { allOrganizations: boolean }, { caller }: Call) => {
    if (allOrganizations && !holds(caller, right)) throw permissionDenied()
  }
}

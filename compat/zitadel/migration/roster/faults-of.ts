import { fromJson, type JsonValue } from '@bufbuild/protobuf'
import { registry } from '#lib/registry'
import { validate } from '#lib/rpc/validate'

/** What the contract says against a request: undefined for nothing. So a dry run knows it without Roster. */
export function faultsOf(typeName: string, request: object): string | undefined {
  const desc = registry.getMessage(typeName)
  if (!desc) throw new Error(`proto/ has no ${typeName}`)
  const violations = validate(desc, fromJson(desc, request as JsonValue))
  if (violations.length === 0) return undefined
  return violations.map(({ field, description }) => `${field} ${description}`).join(', ')
}

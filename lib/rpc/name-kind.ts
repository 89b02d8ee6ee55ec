import { type DescField, getOption } from '@bufbuild/protobuf'
import type { NameKind } from '../names/name-faults.ts'
import { registry } from '../registry.ts'

const option = registry.getExtension('roster.options.v1.name')!
// By the numbers of `roster.options.v1.Name`.
const kinds: (NameKind | undefined)[] = [undefined, 'identifier', 'thing', 'person']

const known = new Map<DescField, NameKind | undefined>()

/** What a new name in this field names, as proto/ declares it. Undefined: the field has no new name. */
export function nameKindOf(field: DescField): NameKind | undefined {
  if (!known.has(field)) known.set(field, kinds[Number(getOption(field, option))])
  return known.get(field)
}

import { type DescField, getOption } from '@bufbuild/protobuf'
import { From } from '#gen/roster/options/v1/options'
import { registry } from '#lib/registry'

const option = registry.getExtension('roster.options.v1.from')!
const known = new Map<DescField, From>()

/** Where a field of a page's request comes from. */
export function fromOf(field: DescField): From {
  let from = known.get(field)
  // Reading an option parses it.
  if (from === undefined) known.set(field, (from = getOption(field, option) as From))
  return from
}

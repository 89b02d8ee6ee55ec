import { getOption } from '@bufbuild/protobuf'
import { registry } from '#lib/registry'

const option = registry.getExtension('roster.options.v1.refuses')!

const reasons = new Map(
  [...registry].flatMap((type) =>
    type.kind === 'service'
      ? type.methods.flatMap((desc): [string, string][] => {
          const reason = getOption(desc, option) as string
          return reason === '' ? [] : [[`/${desc.parent.typeName}/${desc.name}`, reason]]
        })
      : [],
  ),
)

/** Why Roster refuses a method of the reference system, by its path of gRPC; undefined where its proto does not say. */
export function whyRefused(path: string): string | undefined {
  return reasons.get(path)
}

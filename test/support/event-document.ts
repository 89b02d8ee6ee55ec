import { type DescField, type DescMessage, getOption, ScalarType } from '@bufbuild/protobuf'
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt'
import { registry } from '#lib/registry'
import { commentOf as commentInProto } from '../../services/gateway/openapi/comments.ts'

/** The text of docs/events.md about a service's events, from proto/ and its comments. */
export function documentEvents(events: { type: string; desc: DescMessage }[]): string {
  const sections = events.map(({ type, desc }) =>
    [
      `### \`${type}\``,
      commentOf(desc),
      desc.fields
        .filter(isPublished)
        .map((field) => line(field))
        .join('\n'),
    ]
      .filter(Boolean)
      .join('\n\n'),
  )
  return sections.join('\n\n')
}

function line(field: DescField, indent = ''): string {
  const optional = field.presence === FeatureSet_FieldPresence.EXPLICIT && field.fieldKind !== 'message' ? '?' : ''
  const comment = commentOf(field)
  const part = field.message && !isTime(field.message) ? field.message.fields : []
  const personal = getOption(field, personalOption) === true ? ', personal' : ''
  const own = `${indent}- \`${field.jsonName}\`${optional} ${typeOf(field)}${personal}${comment && `: ${comment}`}`
  return [own, ...part.map((inner) => line(inner, `${indent}  `))].join('\n')
}

const isPublished = (field: DescField) => getOption(field, unpublishedOption) !== true
const unpublishedOption = registry.getExtension('roster.options.v1.unpublished')!
const personalOption = registry.getExtension('roster.options.v1.personal')!

function typeOf(field: DescField): string {
  const of = field.fieldKind === 'list' ? 'list of ' : ''
  if (field.enum) return `${of}${field.enum.values.map(({ name }) => `\`${name}\``).join(' | ')}`
  if (field.message) return `${of}${isTime(field.message) ? 'time' : 'object'}`
  if (field.scalar === ScalarType.BOOL) return `${of}true or false`
  return `${of}${field.scalar === ScalarType.INT32 ? 'number' : 'text'}`
}

function isTime({ typeName }: DescMessage): boolean {
  return typeName === 'google.protobuf.Timestamp'
}

function commentOf(desc: DescMessage | DescField): string {
  return (commentInProto(desc) ?? '').replaceAll(/\s*\n\s*/g, ' ')
}

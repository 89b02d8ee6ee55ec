import { readFileSync } from 'node:fs'
import {
  type DescEnum,
  type DescEnumValue,
  type DescField,
  type DescFile,
  type DescMessage,
  type DescMethod,
  type DescService,
  fromBinary,
} from '@bufbuild/protobuf'
import { type FileDescriptorProto, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { registry } from '#lib/registry'

type Commented = DescMessage | DescField | DescEnum | DescEnumValue | DescService | DescMethod

/** The comment of a declaration in proto/, as Markdown. Undefined where it has none. */
export function commentOf(desc: Commented): string | undefined {
  files ??= readFiles()
  return files.get(fileOf(desc).proto.name)?.get(placeOf(desc).join())
}

/** The same text for readers of JSON: it names fields in lowerCamelCase. */
export function jsonCommentOf(desc: Commented): string | undefined {
  return commentOf(desc)?.replaceAll(/\b[a-z0-9]+(_[a-z0-9]+)+\b/g, (word) => jsonNames.get(word) ?? word)
}

const jsonNames = new Map(
  [...registry]
    .filter((desc): desc is DescMessage => desc.kind === 'message' && desc.typeName.startsWith('roster.'))
    .flatMap(({ fields }) => fields.map(({ name, jsonName }) => [name, jsonName] as const)),
)

// The comments take four times the memory of the declarations, so they are read at the first request for them.
let files: Map<string, Map<string, string>> | undefined

function readFiles(): Map<string, Map<string, string>> {
  const bytes = readFileSync(new URL('../../../gen/documented.binpb', import.meta.url))
  return new Map(fromBinary(FileDescriptorSetSchema, bytes).file.map((file) => [file.name, commentsIn(file)]))
}

function commentsIn({ sourceCodeInfo }: FileDescriptorProto): Map<string, string> {
  const comments = new Map<string, string>()
  for (const { path, leadingComments, trailingComments } of sourceCodeInfo?.location ?? []) {
    const text = (leadingComments || trailingComments).replaceAll(/^ buf:lint:ignore .*$|^ /gm, '').trim()
    if (text !== '') comments.set(path.join(), text)
  }
  return comments
}

function fileOf(desc: Commented): DescFile {
  return desc.kind === 'field' || desc.kind === 'enum_value' || desc.kind === 'rpc' ? desc.parent.file : desc.file
}

/** The place of a declaration in its file: numbers of fields of `FileDescriptorProto`, each with an index. */
function placeOf(desc: Commented): number[] {
  switch (desc.kind) {
    case 'service':
      return [6, desc.file.services.indexOf(desc)]
    case 'rpc':
      return [...placeOf(desc.parent), 2, desc.parent.methods.indexOf(desc)]
    case 'message':
      return desc.parent
        ? [...placeOf(desc.parent), 3, desc.parent.proto.nestedType.indexOf(desc.proto)]
        : [4, desc.file.messages.indexOf(desc)]
    case 'field':
      return [...placeOf(desc.parent), 2, desc.parent.fields.indexOf(desc)]
    case 'enum':
      return desc.parent
        ? [...placeOf(desc.parent), 4, desc.parent.nestedEnums.indexOf(desc)]
        : [5, desc.file.enums.indexOf(desc)]
    case 'enum_value':
      return [...placeOf(desc.parent), 2, desc.parent.values.indexOf(desc)]
  }
}

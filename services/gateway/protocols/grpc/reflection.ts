import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { Duplex } from 'node:stream'
import {
  create,
  createFileRegistry,
  type DescFile,
  type DescMethod,
  fromBinary,
  type MessageInitShape,
  toBinary,
} from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { type Server, type ServiceDefinition, status } from '@grpc/grpc-js'
import { registry } from '#lib/registry'
import { byGrpcPath } from '../../call/routes.ts'

/** Adds server reflection for the services that the gateway answers, and no others. */
export function addReflection(server: Server): void {
  // It fails where the client goes away.
  const ServerReflectionInfo = (call: unknown) => void answerAll(call as Duplex).catch(() => {})
  for (const service of ['grpc.reflection.v1.ServerReflection', 'grpc.reflection.v1alpha.ServerReflection'])
    server.addService(definitionOf(shown.getService(service)!.methods[0]!), { ServerReflectionInfo })
}

interface Request {
  host: string
  messageRequest:
    | { case: 'listServices' | 'fileByFilename' | 'fileContainingSymbol' | 'allExtensionNumbersOfType'; value: string }
    | { case: 'fileContainingExtension'; value: { containingType: string; extensionNumber: number } }
    | { case: undefined }
}

const served = new Set([...byGrpcPath.values()].map(({ desc }) => desc.parent.typeName))
// A file with an internal service stays hidden.
const ofContract = [...registry.files].filter(({ services }) => services.every(({ typeName }) => served.has(typeName)))
const shown = createFileRegistry(
  createFileRegistry(create(FileDescriptorSetSchema, { file: ofContract.map(({ proto }) => proto) })),
  ...['health', 'reflection'].map((name) =>
    createFileRegistry(
      fromBinary(FileDescriptorSetSchema, readFileSync(new URL(`../../../../gen/grpc-${name}.binpb`, import.meta.url))),
    ),
  ),
)
const types = [...shown]

function definitionOf({ name, parent, input, output }: DescMethod): ServiceDefinition {
  return {
    [name]: {
      path: `/${parent.typeName}/${name}`,
      requestStream: true,
      responseStream: true,
      requestDeserialize: (bytes: Buffer) => fromBinary(input, bytes),
      requestSerialize: (request) => Buffer.from(toBinary(input, request)),
      responseDeserialize: (bytes: Buffer) => fromBinary(output, bytes),
      responseSerialize: (answer: MessageInitShape<typeof output>) =>
        Buffer.from(toBinary(output, create(output, answer))),
    },
  }
}

/** Requests of one stream. A client asks for each file once, and there are about a hundred. */
const mostRequests = 1000

async function answerAll(call: Duplex): Promise<void> {
  let left = mostRequests
  // A file that the client has is not sent again, unless it asks for that very file.
  const sent = new Set<DescFile>()
  // The next request is taken once the client has read the answers.
  for await (const request of call.iterator({ destroyOnReturn: false }) as AsyncIterable<Request>) {
    if (left-- === 0) break
    const isRead = call.write({
      validHost: request.host,
      originalRequest: request,
      messageResponse: answer(request, sent),
    })
    if (!isRead) await once(call, 'drain')
  }
  if (left < 0) call.emit('error', tooManyRequests)
  else call.end()
}

const tooManyRequests = Object.assign(new Error(), {
  code: status.RESOURCE_EXHAUSTED,
  details: `A stream of reflection answers ${mostRequests} requests. Open another one.`,
})

function answer({ messageRequest: asked }: Request, sent: Set<DescFile>) {
  if (asked.case === 'listServices') {
    const service = types.flatMap(({ kind, typeName }) => (kind === 'service' ? [{ name: typeName }] : []))
    return { case: 'listServicesResponse', value: { service } }
  }
  if (asked.case === 'allExtensionNumbersOfType' && shown.getMessage(asked.value)) {
    const extensionNumber = types.flatMap((type) =>
      type.kind === 'extension' && type.extendee.typeName === asked.value ? [type.number] : [],
    )
    return { case: 'allExtensionNumbersResponse', value: { baseTypeName: asked.value, extensionNumber } }
  }
  const file = findFile(asked)
  if (!file)
    return {
      case: 'errorResponse',
      value: { errorCode: status.NOT_FOUND, errorMessage: 'the gateway has no such thing' },
    }
  sent.delete(file)
  return { case: 'fileDescriptorResponse', value: { fileDescriptorProto: withImports(file, sent) } }
}

function findFile(asked: Request['messageRequest']): DescFile | undefined {
  if (asked.case === 'fileByFilename') return shown.getFile(asked.value)
  if (asked.case === 'fileContainingSymbol') {
    // The symbol of a method, a field or a value follows that of its type.
    const parent = asked.value.slice(0, asked.value.lastIndexOf('.'))
    return (shown.get(asked.value) ?? shown.get(parent))?.file
  }
  if (asked.case !== 'fileContainingExtension') return undefined
  const extendee = shown.getMessage(asked.value.containingType)
  return extendee && shown.getExtensionFor(extendee, asked.value.extensionNumber)?.file
}

function withImports(file: DescFile, sent: Set<DescFile>): Uint8Array[] {
  if (sent.has(file)) return []
  sent.add(file)
  const imported = file.dependencies.flatMap((each) => withImports(each, sent))
  return [toBinary(FileDescriptorProtoSchema, file.proto), ...imported]
}

import type { DescFile } from '@bufbuild/protobuf'
import { expect, test } from 'vitest'
import { registry } from '#lib/registry'
import { publishedFiles } from './published.ts'

const official = {
  'google/api/annotations': ['google.golang.org/genproto/googleapis/api/annotations;annotations', 'com.google.api'],
  'google/api/http': ['google.golang.org/genproto/googleapis/api/annotations;annotations', 'com.google.api'],
  'google/rpc/error_details': ['google.golang.org/genproto/googleapis/rpc/errdetails;errdetails', 'com.google.rpc'],
  'google/rpc/status': ['google.golang.org/genproto/googleapis/rpc/status;status', 'com.google.rpc'],
  'buf/validate/validate': [
    'buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate',
    'build.buf.validate',
  ],
} as const

const files = [...registry.files].filter(({ name }) => !name.startsWith('google/protobuf/'))
const of = (first: string) => files.filter(({ name }) => name.startsWith(`${first}/`))

test.each(of('roster'))('code made of $name has packages that follow from its proto package', (file) => {
  const parts = file.proto.package.split('.')
  expect(packages(file)).toEqual({
    go: `roster.example/gen/${parts.join('/')};${parts.slice(1).join('')}`,
    ...managed(file),
  })
})

test.each([...of('google'), ...of('buf')])('code that uses $name links the official package', (file) => {
  const [go, java] = official[file.name as keyof typeof official]
  expect(packages(file)).toEqual({ ...managed(file), go, java })
})

test('code made of compat/zitadel/proto/zitadel has the packages of ZITADEL’s own', async () => {
  const own: object[] = [...(await zitadelPackages()), ...unpublished]
  for (const file of of('zitadel')) {
    const { outer: _, ...named } = packages(file)
    expect(own, file.name).toContainEqual({ package: file.proto.package, ...named })
  }
})

/** Those that ZITADEL has and its package of npm does not yet. */
const unpublished = ['application'].map((name) => ({
  package: `zitadel.${name}.v2`,
  go: `github.com/zitadel/zitadel/pkg/grpc/${name}/v2;${name}`,
  java: `com.zitadel.${name}.v2`,
  several: true,
  csharp: `Zitadel.${pascal(name)}.V2`,
}))

function packages({ proto: { options } }: DescFile) {
  return {
    go: options?.goPackage,
    java: options?.javaPackage,
    several: options?.javaMultipleFiles,
    outer: options?.javaOuterClassname,
    csharp: options?.csharpNamespace,
  }
}

/** What buf's managed mode gives, so that a client has the same names with it and without. */
function managed({ name, proto }: DescFile) {
  return {
    java: `com.${proto.package}`,
    several: true,
    outer: `${pascal(name.split('/').at(-1)!)}Proto`,
    csharp: proto.package.split('.').map(pascal).join('.'),
  }
}

function pascal(words: string): string {
  return words.replace(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase())
}

async function zitadelPackages() {
  return (await publishedFiles()).map((file) => {
    const { outer: _, ...named } = packages(file)
    return { package: file.proto.package, ...named }
  })
}

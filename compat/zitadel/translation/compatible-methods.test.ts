import { createFileRegistry, type DescMethod, fromBinary, setExtension } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema, type MethodOptions } from '@bufbuild/protobuf/wkt'
import { expect, test } from 'vitest'
import { descriptorSet, registry } from '#lib/registry'
import { methods, offered } from '#lib/rpc/methods'
import { byGrpcPath } from '../../../services/gateway/call/routes.ts'
import { compatibleMethods, readMethod, translationOf } from './compatible-methods.ts'
import { plan } from './plan.ts'

/** The method, where its proto says that it means another one. */
function meaning(service: string, name: string, means: string): DescMethod {
  const files = fromBinary(FileDescriptorSetSchema, descriptorSet)
  const services = files.file.flatMap((file) =>
    file.service.map((one) => ({ one, name: `${file.package}.${one.name}` })),
  )
  const method = services.find((one) => one.name === service)!.one.method.find((one) => one.name === name)!
  setExtension(method.options as MethodOptions, registry.getExtension('roster.options.v1.means')!, means)
  return createFileRegistry(files)
    .getService(service)!
    .methods.find((one) => one.name === name)!
}

const auth = 'zitadel.auth.v1.AuthService'
const user = 'zitadel.user.v2.UserService'

test.each([
  ['no method of Roster', auth, 'GetMyUser', 'roster.users.v1.UserService.Nothing', /is no method of proto/],
  ['an internal method', auth, 'GetMyUser', 'roster.users.v1.InternalService.LookupUser', /cannot mean/],
  ['a stream', auth, 'GetMyUser', 'roster.notifier.v1.EventService.WatchEvents', /cannot mean/],
  ['a method of OAuth clients', auth, 'GetMyUser', 'roster.users.v1.OAuthService.IssueToken', /cannot mean/],
  ['a method without its fields', auth, 'UpdateMyProfile', 'roster.users.v1.UserService.GetUser', /has no equal/],
  [
    'a method with another answer',
    auth,
    'GetMyUser',
    'roster.grants.v1.UserGrantService.GetMyPermissions',
    /no equal|fit/,
  ],
  ['methods with unlike access', user, 'CreateUser', 'roster.users.v1.UserService.UpdateMyProfile', /unlike|no equal/],
])('the gateway does not start with a method that means %s', (_, service, name, means, problem) => {
  expect(() => readMethod(meaning(service, name, means))).toThrow(problem)
})

test('nor with fields of different kinds, or values of different names', () => {
  const message = (name: string) => registry.getMessage(name)!
  const [zitadelUser, ownUser] = [message('zitadel.user.v1.User'), message('roster.users.v1.User')]
  expect(() => plan('answer', zitadelUser, ownUser)).not.toThrow()
  expect(() => plan('answer', message('zitadel.org.v1.Org'), ownUser)).toThrow('zitadel.org.v1.Org.id has no equal')
  expect(() => plan('request', message('zitadel.idp.v1.IDP'), message('roster.notifier.v1.Webhook'))).toThrow(
    /fit|equal/,
  )
})

test('a method without an option has no equal, and no path', () => {
  expect(readMethod(meaning(auth, 'GetMyUser', ''))).toEqual([])
})

test('every method of ZITADEL has its own path, and none of Roster’s', () => {
  const paths = new Set(offered.map(({ path }) => path))
  for (const compatible of compatibleMethods) {
    expect(compatible.path).toMatch(/^\/zitadel\./)
    expect(paths.has(compatible.path)).toBe(false)
    expect(byGrpcPath.get(compatible.path)).toBe(compatible)
    expect(methods.has(compatible.path.slice(1).replace('/', '.'))).toBe(false)
  }
  expect(byGrpcPath.size).toBe(offered.length + compatibleMethods.length)
})

test('each method of ZITADEL has the access of the method that it means, and is counted as that one', () => {
  expect(compatibleMethods.length).toBeGreaterThan(100)
  for (const compatible of compatibleMethods) {
    const { usual, special } = translationOf(compatible)!
    for (const { method } of [usual, ...special]) {
      const { access, reads, oauth, streams } = method
      expect(access.rule).not.toBe('internal')
      expect(compatible).toMatchObject({ access, reads, oauth, streams })
    }
    expect(compatible.subject).toBe(usual.method.subject)
  }
})

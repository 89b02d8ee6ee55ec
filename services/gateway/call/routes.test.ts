import { expect, test } from 'vitest'
import { methods, offered } from '#lib/rpc/methods'
import { byGrpcPath, findRoutes, offeredVerbs } from './routes.ts'

const at = (verb: string, path: string) => {
  const match = findRoutes(path).get(verb)
  return match && [match.method.desc.name, ...match.variables.map(({ field, text }) => `${field.name}=${text}`)]
}

test('every offered method is reached by its gRPC path, and all but streams by that of google.api.http', () => {
  for (const method of offered) {
    expect(byGrpcPath.get(method.path)).toBe(method)
    if (method.streams) continue
    const path = method.http!.template.replace(/\{\w+(=\*\*)?\}/g, 'some-id')
    expect(findRoutes(path).get(method.http!.verb)?.method).toBe(method)
  }
})

test('internal methods and pages are not offered as operations', () => {
  const others = [...methods.values()].filter((method) => !offered.includes(method))
  expect(others.some(({ access }) => access.rule === 'internal')).toBe(true)
  expect(others.some(({ page }) => page)).toBe(true)
  for (const { path } of others) expect(byGrpcPath.has(path)).toBe(false)
})

test('path variables keep their percent-encoding', () => {
  expect(at('GET', '/management/v1/users/a%2Fb/grants/7')).toEqual(['GetUserGrant', 'user_id=a%2Fb', 'grant_id=7'])
})

test('a variable for the rest of the path has its slashes, after all that is more exact', () => {
  const roles = '/management/v1/projects/p/roles'
  expect(at('PUT', `${roles}/a/b%2F/`)).toEqual(['UpdateProjectRole', 'project_id=p', 'role_key=a/b%2F/'])
  expect(at('DELETE', `${roles}/_search`)).toEqual(['RemoveProjectRole', 'project_id=p', 'role_key=_search'])
  expect(at('POST', `${roles}/_search`)).toEqual(['SearchProjectRoles', 'project_id=p'])
  expect(at('PUT', `${roles}/`)).toBeUndefined()
})

test('a literal segment wins over a variable, for its own verbs only', () => {
  expect(at('POST', '/admin/v1/idps/oidc')).toEqual(['AddOIDCIDP'])
  expect(at('PUT', '/admin/v1/idps/oidc')).toEqual(['UpdateIDP', 'idp_id=oidc'])
  expect(at('GET', '/v2/users/human')).toEqual(['GetUser', 'user_id=human'])
})

test('a path offers the verbs of its literal, and not those of a variable beside it', () => {
  const offers = (path: string) => offeredVerbs(findRoutes(path)).toSorted()
  expect(offers('/admin/v1/idps/_search')).toEqual(['POST'])
  expect(offers('/admin/v1/idps/some-id')).toEqual(['DELETE', 'GET', 'PUT'])
  expect(offers('/management/v1/projects/p/roles/_search')).toEqual(['POST'])
  expect(offers('/management/v1/projects/p/roles/a/b')).toEqual(['DELETE', 'PUT'])
})

test('empty segments, trailing slashes and shorter or longer paths lead nowhere', () => {
  for (const path of [
    '/',
    '',
    '/v2/users//email',
    '/v2/users/u/email/',
    '/v2/users',
    '/v2/users/u/email/x',
    'v2/users/u',
  ])
    expect(findRoutes(path).size, path).toBe(0)
})

test('names of object members are no paths', () => {
  for (const path of ['/__proto__', '/constructor', '/v2/__proto__', '/toString']) expect(findRoutes(path).size).toBe(0)
})

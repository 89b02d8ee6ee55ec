import createClient from 'openapi-fetch'
import type { paths } from './generated/openapi-typescript.ts'
import { calls, headersOf, print, url } from './work.ts'

const roster = createClient<paths>({ baseUrl: url })
const { UpdateMyProfile, UpdateIDP, AddMachineUser, SetEmail, AddUserGrant, SearchUsers } = calls

async function answered<T>(result: Promise<{ data?: T; error?: unknown }>): Promise<T> {
  const { data, error } = await result
  if (data === undefined) throw new Error(JSON.stringify(error))
  return data
}

const { firstName, lastName, displayName, gender } = UpdateMyProfile.request
const { idpId, name, stylingType, autoRegister } = UpdateIDP.request
const { userName, name: machineName, accessTokenType } = AddMachineUser.request
const { userId, email, returnCode } = SetEmail.request
const { userId: granted, projectId, roleKeys } = AddUserGrant.request
const answers = {
  UpdateMyProfile: await answered(
    roster.PUT('/auth/v1/users/me/profile', {
      headers: headersOf(UpdateMyProfile),
      body: { firstName, lastName, displayName, gender },
    }),
  ),
  UpdateIDP: await answered(
    roster.PUT('/admin/v1/idps/{idpId}', {
      headers: headersOf(UpdateIDP),
      params: { path: { idpId } },
      body: { name, stylingType, autoRegister },
    }),
  ),
  AddMachineUser: await answered(
    roster.POST('/management/v1/users/machine', {
      headers: headersOf(AddMachineUser),
      body: { userName, name: machineName, accessTokenType },
    }),
  ),
  SetEmail: await answered(
    roster.POST('/v2/users/{userId}/email', {
      headers: headersOf(SetEmail),
      params: { path: { userId } },
      body: { email, returnCode },
    }),
  ),
  AddUserGrant: await answered(
    roster.POST('/management/v1/users/{userId}/grants', {
      headers: headersOf(AddUserGrant),
      params: { path: { userId: granted } },
      body: { projectId, roleKeys },
    }),
  ),
  SearchUsers: await answered(
    roster.POST('/v2/users/_search', {
      headers: headersOf(SearchUsers),
      body: { queries: [{ userNameQuery: { userName, method: 'TEXT_QUERY_METHOD_EQUALS' } }], withTotal: true },
    }),
  ),
}
const { error } = await roster.POST('/v2/users/{userId}/email', {
  headers: headersOf(SetEmail),
  params: { path: { userId } },
  body: { email: '' },
})
print(answers, error!)

import { client } from './generated/hey-api/client.gen'
import {
  addMachineUser,
  addUserGrant,
  searchUsers,
  setEmail,
  updateIdp,
  updateMyProfile,
} from './generated/hey-api/sdk.gen'
import { calls, headersOf, print, url } from './work.ts'

client.setConfig({ baseUrl: url })
const { UpdateMyProfile, UpdateIDP, AddMachineUser, SetEmail, AddUserGrant, SearchUsers } = calls

async function answered<T>(result: Promise<{ data: T }>): Promise<T> {
  return (await result).data
}

const { firstName, lastName, displayName, gender } = UpdateMyProfile.request
const { idpId, name, stylingType, autoRegister } = UpdateIDP.request
const { userName, name: machineName, accessTokenType } = AddMachineUser.request
const { userId, email, returnCode } = SetEmail.request
const { userId: granted, projectId, roleKeys } = AddUserGrant.request
const throwOnError = true as const
const answers = {
  UpdateMyProfile: await answered(
    updateMyProfile({
      headers: headersOf(UpdateMyProfile),
      body: { firstName, lastName, displayName, gender },
      throwOnError,
    }),
  ),
  UpdateIDP: await answered(
    updateIdp({
      headers: headersOf(UpdateIDP),
      path: { idpId },
      body: { name, stylingType, autoRegister },
      throwOnError,
    }),
  ),
  AddMachineUser: await answered(
    addMachineUser({
      headers: headersOf(AddMachineUser),
      body: { userName, name: machineName, accessTokenType },
      throwOnError,
    }),
  ),
  SetEmail: await answered(
    setEmail({ headers: headersOf(SetEmail), path: { userId }, body: { email, returnCode }, throwOnError }),
  ),
  AddUserGrant: await answered(
    addUserGrant({
      headers: headersOf(AddUserGrant),
      path: { userId: granted },
      body: { projectId, roleKeys },
      throwOnError,
    }),
  ),
  SearchUsers: await answered(
    searchUsers({
      headers: headersOf(SearchUsers),
      body: { queries: [{ userNameQuery: { userName, method: 'TEXT_QUERY_METHOD_EQUALS' } }], withTotal: true },
      throwOnError,
    }),
  ),
}
const { error } = await setEmail({ headers: headersOf(SetEmail), path: { userId }, body: { email: '' } })
print(answers, error!)

import {
  addMachineUser,
  addUserGrant,
  searchUsers,
  setEmail,
  TextQueryMethod,
  updateIDP,
  updateMyProfile,
} from './generated/orval.ts'
import { calls, headersOf, print } from './work.ts'

const { UpdateMyProfile, UpdateIDP, AddMachineUser, SetEmail, AddUserGrant, SearchUsers } = calls

async function answered<T extends { status: number; data: unknown }>(result: Promise<T>) {
  const { status, data } = await result
  if (status !== 200) throw new Error(JSON.stringify(data))
  return data as Extract<T, { status: 200 }>['data']
}

const { firstName, lastName, displayName, gender } = UpdateMyProfile.request
const { idpId, name, stylingType, autoRegister } = UpdateIDP.request
const { userName, name: machineName, accessTokenType } = AddMachineUser.request
const { userId, email, returnCode } = SetEmail.request
const { userId: granted, projectId, roleKeys } = AddUserGrant.request
const byName = { userNameQuery: { userName, method: TextQueryMethod.TEXT_QUERY_METHOD_EQUALS } }
const answers = {
  UpdateMyProfile: await answered(
    updateMyProfile({ firstName, lastName, displayName, gender }, { headers: headersOf(UpdateMyProfile) }),
  ),
  UpdateIDP: await answered(updateIDP(idpId, { name, stylingType, autoRegister }, { headers: headersOf(UpdateIDP) })),
  AddMachineUser: await answered(
    addMachineUser({ userName, name: machineName, accessTokenType }, { headers: headersOf(AddMachineUser) }),
  ),
  SetEmail: await answered(setEmail(userId, { email, returnCode }, { headers: headersOf(SetEmail) })),
  AddUserGrant: await answered(addUserGrant(granted, { projectId, roleKeys }, { headers: headersOf(AddUserGrant) })),
  SearchUsers: await answered(searchUsers({ queries: [byName], withTotal: true }, { headers: headersOf(SearchUsers) })),
}
const refused = await setEmail(userId, { email: '' }, { headers: headersOf(SetEmail) })
if (refused.status === 200) throw new Error('an empty address was taken')
print(answers, refused.data)

/** The bodies of the operators' API have one description, which the command uses too. */
export type {
  AbandonedBody,
  BindingBody,
  ChoreBody,
  ChoresBody,
  InstanceBody,
  ListBody,
  MovedBody,
  OperationBody,
  OperationLogBody,
  RegistriesBody,
  RegistryBody,
  ShownInstanceBody,
  ShownOperationBody,
  StartedRun,
  TimelineBody,
} from '../../../src/client/index.ts'

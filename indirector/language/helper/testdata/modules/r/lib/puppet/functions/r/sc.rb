Puppet::Functions.create_function(:'r::sc', Puppet::Functions::InternalFunction) do
  dispatch(:e) { scope_param; param 'String', :k }
  def e(scope, k) [scope[k], scope.lookupvar(k), scope.include?(k), closure_scope['x'], scope.to_s, scope.class.to_s, scope.environment.to_s, scope.compiler.node.name, scope.catalog.class.to_s].inspect end
end
